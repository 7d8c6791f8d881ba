/** People that a directory pushes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { absent, asAdmin, keyOf, Pushing, schemas, setUp } from "./support.ts"

describe("people of a directory", () => {
  it.scopedLive("are made, shown, replaced and removed", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const made = await scim.user("Ada@Example.com", {
          externalId: "e-1",
          name: { givenName: "Ada", familyName: "Lovelace" },
          password: "a secret of the directory"
        })
        assert.deepInclude(made, {
          schemas: [schemas.user],
          userName: "Ada@Example.com",
          externalId: "e-1",
          name: { givenName: "Ada", familyName: "Lovelace" },
          emails: [{ value: "Ada@Example.com", type: "work", primary: true }],
          active: true,
          groups: []
        })
        assert.notProperty(made, "password")
        assert.strictEqual(made.meta.location, `${scim.gateway.url}/scim/v2/Users/${made.id}`)
        const { users } = await scim.gateway.manage("GET", "/api/users")
        assert.deepInclude(users[0], {
          id: made.id,
          name: "Ada Lovelace",
          email: "ada@example.com",
          role: "member",
          source: "scim",
          state: "active"
        })
        await scim.refused(409, "uniqueness", "POST", "/Users", { userName: "ADA@example.com" })

        const read = await scim.send("GET", `/Users/${made.id}`)
        const tag = read.headers.get("etag") ?? ""
        assert.deepStrictEqual(read.body, made)
        assert.strictEqual(tag, made.meta.version)
        assert.strictEqual(
          (await scim.send("GET", `/Users/${made.id}`, undefined, { "if-none-match": tag })).status,
          304
        )
        const changed = await scim.must(
          200,
          "PUT",
          `/Users/${made.id}`,
          { userName: "ada@example.com", displayName: "Ada L.", active: false },
          { "if-match": tag }
        )
        assert.notProperty(changed, "externalId")
        assert.notProperty(changed, "name")
        assert.deepInclude(changed, { displayName: "Ada L.", emails: [], active: false })
        await scim.refused(412, undefined, "DELETE", `/Users/${made.id}`, undefined, { "if-match": tag })
        await scim.must(204, "DELETE", `/Users/${made.id}`, undefined, { "if-match": changed.meta.version })
        await scim.refused(404, undefined, "GET", `/Users/${made.id}`)
      })
    })
  )

  it.scopedLive("are changed as Entra and Okta write it", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { id } = await scim.user("ada@example.com")
        const at = `/Users/${id}`
        const entra = await scim.patch(
          at,
          { op: "Replace", path: "active", value: "False" },
          { op: "Replace", path: 'emails[type eq "work"].value', value: "ada@work.example" },
          { op: "Add", path: 'emails[type eq "home"].value', value: "ada@home.example" },
          { op: "Add", path: "name.givenName", value: "Ada" },
          { op: "Add", path: `${schemas.user}:externalId`, value: "e-1" },
          {
            op: "Add",
            path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
            value: "Mathematics"
          }
        )
        assert.deepInclude(entra, { active: false, externalId: "e-1", name: { givenName: "Ada" } })
        assert.deepStrictEqual(entra.emails, [
          { value: "ada@work.example", type: "work", primary: true },
          { value: "ada@home.example", type: "home", primary: false }
        ])
        const okta = await scim.patch(at, {
          op: "replace",
          value: { active: true, "name.familyName": "Byron", title: "Countess" }
        })
        assert.deepInclude(okta, { active: true, name: { givenName: "Ada", familyName: "Byron" } })
        const removed = await scim.patch(
          at,
          { op: "remove", path: 'emails[type eq "work"]' },
          { op: "remove", path: "name.givenName" },
          { op: "remove", path: "externalId" }
        )
        assert.deepStrictEqual(removed.emails, [{ value: "ada@home.example", type: "home", primary: false }])
        assert.deepStrictEqual(removed.name, { familyName: "Byron" })
        assert.notProperty(removed, "externalId")
        // All of a PATCH or nothing of it.
        const before = await scim.must(200, "GET", at)
        await scim.refused(400, "invalidValue", "PATCH", at, {
          schemas: [schemas.patch],
          Operations: [
            { op: "replace", path: "displayName", value: "Half" },
            { op: "replace", path: "userName", value: "" }
          ]
        })
        assert.deepStrictEqual(await scim.must(200, "GET", at), before)
        const named = await scim.patch(at, { op: "replace", path: "displayName", value: "A\u001b[31mda\u202e\n  L." })
        assert.strictEqual(named.displayName, "A [31mda L.")
      })
    })
  )

  it.scopedLive("are found by filters, a page at a time", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        for (const name of ["ada", "bob", "cleo"]) {
          await scim.user(`${name}@example.com`, { externalId: `E-${name}`, displayName: `${name} of Example` })
        }
        await asAdmin(scim).gateway.manage("POST", "/api/users", { name: "Local", email: "local@example.com" })
        const [, bob] = (await scim.must(200, "GET", "/Users")).Resources
        await scim.patch(`/Users/${bob.id}`, { op: "replace", path: "active", value: false })
        const found = async (filter: string): Promise<string> => {
          const { Resources } = await scim.must(200, "GET", `/Users?filter=${encodeURIComponent(filter)}`)
          return Resources.map(({ userName }: { userName: string }) => userName.split("@")[0]).join(" ")
        }
        assert.strictEqual(await found('userName eq "ADA@example.com"'), "ada")
        assert.strictEqual(await found(`${schemas.user}:userName sw "b"`), "bob")
        assert.strictEqual(await found('externalId eq "E-cleo"'), "cleo")
        assert.strictEqual(await found('externalId eq "e-cleo"'), "")
        assert.strictEqual(await found('emails.value co "@EXAMPLE"'), "ada bob cleo")
        assert.strictEqual(await found('displayName sw "c" or userName eq "ada@example.com"'), "ada cleo")
        assert.strictEqual(await found("active eq true"), "ada cleo")
        assert.strictEqual(await found('active eq "False"'), "bob")
        assert.strictEqual(await found('active eq true and (userName sw "a" or userName sw "b")'), "ada")
        assert.strictEqual(await found('not (userName sw "a") and externalId pr'), "bob cleo")
        assert.strictEqual(await found('userName eq "local@example.com"'), "")
        const page = await scim.must(200, "GET", "/Users?startIndex=2&count=1&attributes=userName")
        assert.deepInclude(page, { totalResults: 3, startIndex: 2, itemsPerPage: 1 })
        assert.deepStrictEqual(Object.keys(page.Resources[0]).toSorted(), ["id", "schemas", "userName"])
        assert.lengthOf((await scim.must(200, "GET", "/Users?count=0")).Resources, 0)
        assert.notProperty((await scim.must(200, "GET", "/Users?excludedAttributes=emails")).Resources[0], "emails")
      })
    })
  )

  it.scopedLive("end with their keys when they are suspended or removed, and no other person is touched", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = scim
        const { id } = await scim.user("ada@example.com")
        const key = await keyOf(gateway, { name: "ada", userId: id })
        const asked = async (): Promise<number> => {
          const response = await fetch(`${gateway.url}/v1/models`, {
            headers: { authorization: `Bearer ${key.secret}` }
          })
          await response.arrayBuffer()
          return response.status
        }
        assert.strictEqual(await asked(), 200)
        await scim.patch(`/Users/${id}`, { op: "replace", path: "active", value: false })
        assert.strictEqual(await asked(), 403)
        await scim.patch(`/Users/${id}`, { op: "replace", path: "active", value: true })
        assert.strictEqual(await asked(), 200)
        await scim.must(204, "DELETE", `/Users/${id}`)
        assert.strictEqual(await asked(), 403)
        const { user } = await gateway.manage("POST", "/api/users", { name: "Local", email: "local@example.com" })
        await scim.refused(404, undefined, "GET", `/Users/${user.id}`)
        await scim.refused(404, undefined, "DELETE", `/Users/${user.id}`)
        await scim.refused(404, undefined, "PUT", `/Users/${user.id}`, { userName: "x@example.com" })
        // One e-mail address does not make one person.
        const other = await scim.user("local@example.com")
        assert.notStrictEqual(other.id, user.id)
      })
    })
  )

  it.scopedLive("of role owner are changed by an owner's key, and by no admin", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = scim
        const { user } = await gateway.manage("POST", "/api/users", {
          name: "Admin",
          email: "admin@example.com",
          role: "admin"
        })
        const admin = new Pushing(gateway, await keyOf(gateway, { name: "admin", userId: user.id }))
        const { id } = await admin.user("ada@example.com")
        await gateway.manage("PUT", `/api/users/${id}`, { role: "owner" })
        await admin.refused(403, undefined, "DELETE", `/Users/${id}`)
        await admin.refused(403, undefined, "PUT", `/Users/${id}`, { userName: "ada@example.com", active: false })
        const after = await scim.patch(`/Users/${id}`, { op: "replace", path: "active", value: false })
        assert.strictEqual(after.active, false)
      })
    })
  )

  it.scopedLive("are in the audit log with the key that has changed them", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { id } = await scim.user("ada@example.com")
        await scim.patch(`/Users/${id}`, { op: "replace", path: 'emails[type eq "work"].value', value: "a@b.example" })
        await scim.refused(404, undefined, "DELETE", `/Users/${absent}`)
        await new Pushing(scim.gateway, { id: "", secret: "wrong" }).send("DELETE", `/Users/${id}`)
        interface Row {
          readonly action: string
          readonly actor: string
          readonly target: string | null
          readonly status: string
          readonly details: Readonly<Record<string, unknown>>
        }
        const entries = await scim.gateway.manage("GET", "/api/compliance/audit-log?limit=50")
        const rows = (entries as ReadonlyArray<Row>).filter(({ action }) => action.startsWith("scim.")).toReversed()
        assert.deepStrictEqual(
          rows.map(({ action, actor, status, target }) => [action, actor, target, status]),
          [
            ["scim.createUser", `apiKey:${scim.key.id}`, id, "success"],
            ["scim.patchUser", `apiKey:${scim.key.id}`, id, "success"],
            ["scim.removeUser", `apiKey:${scim.key.id}`, "none", "failure"],
            ["scim.removeUser", "anonymous", id, "failure"]
          ]
        )
        assert.strictEqual(rows[1]?.details["apiKeyName"], "Directory")
        assert.deepStrictEqual(rows[1]?.details["fields"], ["emails[].value"])
      })
    })
  )
})
