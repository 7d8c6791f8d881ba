/** Descriptions of the service provider, and who may ask it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { absent, asAdmin, keyOf, Pushing, schemas, setUp } from "./support.ts"

describe("a service provider of SCIM", () => {
  it.scopedLive("tells what it does, and which resources and attributes there are", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const config = await scim.must(200, "GET", "/ServiceProviderConfig")
        assert.deepStrictEqual(
          [config.patch.supported, config.filter.supported, config.bulk.supported, config.etag.supported],
          [true, true, false, true]
        )
        const types = await scim.must(200, "GET", "/ResourceTypes")
        assert.deepStrictEqual(
          types.Resources.map(({ endpoint, id }: { endpoint: string; id: string }) => [id, endpoint]),
          [
            ["User", "/Users"],
            ["Group", "/Groups"]
          ]
        )
        assert.strictEqual((await scim.must(200, "GET", "/ResourceTypes/Group")).id, "Group")
        await scim.refused(404, undefined, "GET", "/ResourceTypes/Printer")
        assert.strictEqual((await scim.must(200, "GET", "/Schemas")).totalResults, 2)
        const schema = await scim.must(200, "GET", `/Schemas/${schemas.user}`)
        assert.include(
          schema.attributes.map(({ name }: { name: string }) => name),
          "userName"
        )
      })
    })
  )

  it.scopedLive("is open to keys of its scope and to who manages, and to nobody else", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = scim
        const with_ = (secret: string): Pushing => new Pushing(gateway, { id: "", secret })
        await asAdmin(scim).must(200, "GET", "/Users")
        const plain = await keyOf(gateway, { name: "plain" })
        for (const [method, path] of [
          ["GET", "/Users"],
          ["POST", "/Users"],
          ["DELETE", "/Groups/none"]
        ] as const) {
          await with_("wrong").refused(401, undefined, method, path)
          await with_(plain.secret).refused(403, undefined, method, path)
        }
        for (const role of ["owner", "admin", "lead", "member", "viewer"]) {
          const { user } = await gateway.manage("POST", "/api/users", {
            name: role,
            email: `${role}@example.com`,
            role
          })
          const key = await keyOf(gateway, { name: role, userId: user.id })
          const { status } = await with_(key.secret).send("GET", "/Users")
          assert.strictEqual(status, role === "owner" || role === "admin" ? 200 : 403, role)
          // The scope makes owners, so that an admin neither gives it nor gives another secret for it.
          const asked = async (method: string, path: string, body: object): Promise<number> => {
            const response = await fetch(gateway.url + path, {
              method,
              headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
              body: JSON.stringify(body)
            })
            await response.arrayBuffer()
            return response.status
          }
          const given = await asked("POST", "/api/keys", { name: `of ${role}`, scopes: ["scim"] })
          assert.strictEqual(given, role === "owner" ? 201 : 403, role)
          if (role !== "owner") {
            // To who does not see the key, there is none.
            const expected = role === "admin" ? 403 : 404
            assert.strictEqual(await asked("POST", `/api/keys/${scim.key.id}/rotate`, {}), expected, role)
          }
        }
        // It opens nothing else of the management.
        for (const path of ["/api/users", "/api/teams", "/api/keys", "/api/settings"]) {
          const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${scim.key.secret}` } })
          assert.strictEqual(response.status, 403, path)
        }
      })
    })
  )

  it.scopedLive("refuses what it does not understand in the form of SCIM", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        await scim.refused(400, "invalidSyntax", "POST", "/Users", "{")
        await scim.refused(400, "invalidSyntax", "POST", "/Users", "[]")
        await scim.refused(400, "invalidSyntax", "POST", "/Users", { userName: "a@b.example", USERNAME: "c@d.example" })
        await scim.refused(415, undefined, "POST", "/Users", "a=b", { "content-type": "text/plain" })
        await scim.refused(400, "invalidValue", "POST", "/Users", { displayName: "No name" })
        await scim.refused(400, "invalidValue", "POST", "/Users", { userName: "ada" })
        await scim.refused(400, "invalidValue", "POST", "/Users", { userName: "ada\u0007@example.com" })
        await scim.refused(400, "invalidValue", "POST", "/Groups", { members: [] })
        await scim.refused(400, "invalidValue", "POST", "/Groups", { displayName: "G", members: [{ value: "none" }] })
        await scim.refused(404, undefined, "GET", `/Users/${absent}`)
        await scim.refused(404, undefined, "DELETE", "/Groups/none")
        await scim.refused(400, "invalidValue", "GET", "/Users?count=many")
        const deep = `${"(".repeat(9)}active eq true${")".repeat(9)}`
        const many = Array.from({ length: 41 }, () => "active eq true").join(" or ")
        for (const filter of [
          "userName",
          "userName xx 1",
          "shoe eq 1",
          'userName eq "a',
          deep,
          many,
          "a".repeat(4_001)
        ]) {
          await scim.refused(400, "invalidFilter", "GET", `/Users?filter=${encodeURIComponent(filter)}`)
        }
        const { id } = await scim.user("ada@example.com")
        const patch = (...Operations: ReadonlyArray<unknown>) => ({ schemas: [schemas.patch], Operations })
        await scim.refused(400, "invalidSyntax", "PATCH", `/Users/${id}`, { Operations: [] })
        await scim.refused(400, "invalidSyntax", "PATCH", `/Users/${id}`, patch())
        await scim.refused(400, "invalidSyntax", "PATCH", `/Users/${id}`, patch({ op: "move", path: "active" }))
        await scim.refused(400, "noTarget", "PATCH", `/Users/${id}`, patch({ op: "remove" }))
        await scim.refused(400, "invalidPath", "PATCH", `/Users/${id}`, patch({ op: "add", path: "a.b.c", value: 1 }))
        await scim.refused(
          400,
          "invalidValue",
          "PATCH",
          `/Users/${id}`,
          patch({ op: "replace", path: "active", value: "maybe" })
        )
        await scim.refused(400, "mutability", "PATCH", `/Users/${id}`, patch({ op: "add", path: "groups", value: [] }))
        const tooMany = Array.from({ length: 10_001 }, () => ({ op: "replace", path: "active", value: true }))
        await scim.refused(400, "tooMany", "PATCH", `/Users/${id}`, patch(...tooMany))
        assert.strictEqual((await scim.must(200, "GET", `/Users/${id}`)).active, true)
      })
    })
  )
})
