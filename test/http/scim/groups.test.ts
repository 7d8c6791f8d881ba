/** Groups that a directory pushes: teams, and the roles of their members. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asAdmin, keyOf, Pushing, schemas, setUp } from "./support.ts"

describe("groups of a directory", () => {
  it.scopedLive("are teams, whose members are changed as Entra and Okta write it", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = scim
        const [ada, bob, cleo] = [
          await scim.user("ada@example.com"),
          await scim.user("bob@example.com"),
          await scim.user("cleo@example.com")
        ]
        const made = await scim.group("Research", [ada.id], { externalId: "g-1" })
        assert.deepInclude(made, { displayName: "Research", externalId: "g-1" })
        const at = `/Groups/${made.id}`
        const { team } = await gateway.manage("GET", `/api/teams/${made.id}`)
        assert.deepInclude(team, { name: "Research", source: "scim", parent: null, members: [ada.id] })
        assert.deepStrictEqual((await scim.must(200, "GET", `/Users/${ada.id}`)).groups, [
          {
            value: made.id,
            display: "Research",
            type: "direct",
            $ref: `${gateway.url}/scim/v2/Groups/${made.id}`
          }
        ])
        await scim.refused(409, "uniqueness", "POST", "/Groups", { displayName: "Research" })

        const members = async (...operations: ReadonlyArray<object>) => {
          await scim.patch(at, ...operations)
          return await scim.membersOf(made.id)
        }
        const listed = (...people: ReadonlyArray<{ readonly id: string }>) => people.map(({ id }) => ({ value: id }))
        assert.deepStrictEqual(await members({ op: "Add", path: "members", value: listed(bob, cleo) }), [
          ada.id,
          bob.id,
          cleo.id
        ])
        assert.deepStrictEqual(await members({ op: "remove", path: `members[value eq "${bob.id}"]` }), [
          ada.id,
          cleo.id
        ])
        assert.deepStrictEqual(await members({ op: "Remove", path: "members", value: listed(ada) }), [cleo.id])
        assert.deepStrictEqual(await members({ op: "add", value: { members: listed(ada, bob) } }), [
          cleo.id,
          ada.id,
          bob.id
        ])
        assert.deepStrictEqual(await members({ op: "replace", path: "members", value: listed(bob) }), [bob.id])
        const renamed = await scim.patch(at, { op: "replace", value: { id: made.id, displayName: "Research & More" } })
        assert.strictEqual(renamed.displayName, "Research & More")
        const asked = await scim.must(200, "PATCH", `${at}?attributes=displayName`, {
          schemas: [schemas.patch],
          Operations: [{ op: "replace", path: "displayName", value: "Research" }]
        })
        assert.strictEqual(asked.displayName, "Research")
        assert.deepStrictEqual(await members({ op: "remove", path: "members" }), [])
        await scim.refused(400, "invalidPath", "PATCH", at, {
          schemas: [schemas.patch],
          Operations: [{ op: "remove", path: 'members[display sw "a"]' }]
        })

        // Who was added by hand stays, whatever the directory says of its own people.
        const { user } = await gateway.manage("POST", "/api/users", { name: "Local", email: "local@example.com" })
        await gateway.manage("PUT", `/api/teams/${made.id}`, { members: [user.id, ada.id] })
        await scim.must(200, "PUT", at, { displayName: "Research", members: listed(cleo) })
        assert.deepStrictEqual((await gateway.manage("GET", `/api/teams/${made.id}`)).team.members, [user.id, cleo.id])
        assert.deepStrictEqual(await scim.membersOf(made.id), [cleo.id])

        // Teams that were made here are none of the directory's.
        const own = (await gateway.manage("POST", "/api/teams", { name: "Own", parent: made.id })).team
        await scim.refused(404, undefined, "GET", `/Groups/${own.id}`)
        await scim.refused(404, undefined, "PUT", `/Groups/${own.id}`, { displayName: "Mine" })
        await scim.refused(409, undefined, "DELETE", at)
        await gateway.manage("DELETE", `/api/teams/${own.id}`)

        const { version } = (await scim.must(200, "GET", at)).meta
        await scim.must(204, "DELETE", `/Users/${cleo.id}`)
        assert.deepStrictEqual(await scim.membersOf(made.id), [])
        await scim.refused(412, undefined, "DELETE", at, undefined, { "if-match": version })
        await scim.must(204, "DELETE", at)
        await scim.refused(404, undefined, "GET", at)
      })
    })
  )

  it.scopedLive("are found by name, id and member, a page at a time", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const ada = await scim.user("ada@example.com")
        for (const name of ["Alpha", "Beta", "Gamma"]) await scim.group(name, name === "Beta" ? [ada.id] : [])
        const found = async (filter: string): Promise<string> => {
          const { Resources } = await scim.must(200, "GET", `/Groups?filter=${encodeURIComponent(filter)}`)
          return Resources.map(({ displayName }: { displayName: string }) => displayName).join(" ")
        }
        assert.strictEqual(await found('displayName eq "alpha"'), "Alpha")
        assert.strictEqual(await found('displayName co "a" and members.value eq "none"'), "")
        assert.strictEqual(await found(`members.value eq "${ada.id}"`), "Beta")
        assert.strictEqual(await found(`displayName sw "g" or members eq "${ada.id}"`), "Beta Gamma")
        await scim.refused(400, "invalidFilter", "GET", `/Groups?filter=${encodeURIComponent('members.value co "a"')}`)
        const page = await scim.must(200, "GET", "/Groups?excludedAttributes=members&startIndex=3")
        assert.deepInclude(page, { totalResults: 3, startIndex: 3, itemsPerPage: 1 })
        assert.notProperty(page.Resources[0], "members")
      })
    })
  )

  it.scopedLive("give roles by the table of the issuer that is named, and stand below its team", () =>
    Effect.gen(function* () {
      const scim = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = scim
        const company = (await gateway.manage("POST", "/api/teams", { name: "Company" })).team
        const issuer = {
          name: "Company",
          issuer: "https://login.example.com",
          clientId: "gateway",
          groups: [
            { group: "Leads", role: "lead" },
            { group: "g-owners", role: "owner" }
          ],
          defaultRole: "viewer",
          scim: { claim: "sub", attribute: "externalId", parent: company.id }
        }
        await gateway.manage("POST", "/api/issuers", issuer)
        const second = await fetch(`${gateway.url}/api/issuers`, {
          method: "POST",
          headers: { authorization: `Bearer ${asAdmin(scim).key.secret}`, "content-type": "application/json" },
          body: JSON.stringify({ ...issuer, name: "Another", scim: {} })
        })
        assert.strictEqual(second.status, 409, await second.text())
        const ada = await scim.user("ada@example.com")
        const bob = await scim.user("bob@example.com")
        const roles = async (): Promise<string> => {
          const { users } = await gateway.manage("GET", "/api/users")
          const pushed = users.filter(({ source }: { source: string }) => source === "scim")
          return pushed.map(({ role }: { role: string }) => role).join(" ")
        }
        assert.strictEqual(await roles(), "viewer viewer")
        const leads = await scim.group("Leads", [ada.id])
        assert.strictEqual((await gateway.manage("GET", `/api/teams/${leads.id}`)).team.parent, company.id)
        assert.strictEqual(await roles(), "lead viewer")
        const owners = await scim.group("Owners", [bob.id], { externalId: "g-owners" })
        assert.strictEqual(await roles(), "lead owner")
        await scim.patch(`/Groups/${leads.id}`, { op: "add", path: "members", value: [{ value: bob.id }] })
        assert.strictEqual(await roles(), "lead owner")

        // An admin does by SCIM no more than by other ways: nobody becomes an owner, and no owner is touched.
        const { user } = await gateway.manage("POST", "/api/users", {
          name: "Admin",
          email: "admin@example.com",
          role: "admin"
        })
        const admin = new Pushing(gateway, await keyOf(gateway, { name: "admin", userId: user.id }))
        const toOwners = {
          schemas: [schemas.patch],
          Operations: [{ op: "add", path: "members", value: [{ value: ada.id }] }]
        }
        await admin.refused(403, undefined, "PATCH", `/Groups/${owners.id}`, toOwners)
        await admin.refused(403, undefined, "DELETE", `/Groups/${owners.id}`)
        assert.strictEqual(await roles(), "lead owner")

        await scim.must(204, "DELETE", `/Groups/${owners.id}`)
        assert.strictEqual(await roles(), "lead lead")
        await scim.must(204, "DELETE", `/Groups/${leads.id}`)
        assert.strictEqual(await roles(), "viewer viewer")
      })
    })
  )
})
