/** People that a directory pushes and who sign in at an issuer: when they are one person, and that who was taken away does not come back. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Browser, type TestIssuer } from "../../support/issuer/TestIssuer.ts"
import { account, register, setUp as signInSetUp } from "../signIn/support.ts"
import { keyOf, Pushing } from "./support.ts"

const test = (name: string, body: (scim: Pushing, issuer: TestIssuer) => Promise<void>) =>
  it.scopedLive(
    name,
    () =>
      Effect.gen(function* () {
        const { gateway, issuer } = yield* signInSetUp
        yield* Effect.promise(async () =>
          body(new Pushing(gateway, await keyOf(gateway, { name: "Directory", scopes: ["scim"] })), issuer)
        )
      }),
    // An issuer of its own is started, and the first request loads the handlers.
    { timeout: 90_000 }
  )

interface Person {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly source: string
  readonly issuer: string | null
}

const peopleOf = async ({ gateway }: Pushing): Promise<ReadonlyArray<Person>> =>
  (await gateway.manage("GET", "/api/users")).users

const signIn = async ({ gateway }: Pushing, issuerId: string) => {
  const browser = new Browser()
  const { page, status } = await browser.signIn(gateway.url, issuerId)
  const me = await browser.get(`${gateway.url}/api/me`)
  const text = await me.text()
  return { browser, page, status, person: me.status === 200 ? JSON.parse(text).person : null }
}

const refused = async (scim: Pushing, issuerId: string, words: RegExp): Promise<void> => {
  const { page, status } = await signIn(scim, issuerId)
  assert.strictEqual(status, 403, page)
  assert.match(page, words)
}

const notPushed = /has not told the gateway about this account/
const suspended = /suspended here/

const meStatus = async ({ gateway }: Pushing, browser: Browser): Promise<number> => {
  const response = await browser.get(`${gateway.url}/api/auth/session`)
  await response.arrayBuffer()
  return response.status
}

describe("a sign-in at the issuer of a directory that pushes", () => {
  test("is that of the person that was pushed, and of no other", async (scim, issuer) => {
    const id = await register(scim.gateway, issuer, {
      groups: [{ group: "Leads", role: "lead" }],
      scim: { claim: "sub", attribute: "externalId" }
    })
    await issuer.say(account("ada", { name: "Another name", groups: ["Leads"] }))
    await refused(scim, id, notPushed)
    // One e-mail address does not make one person.
    await scim.user("ada@example.com", { externalId: "ADA", displayName: "Ada L." })
    await refused(scim, id, notPushed)
    const bob = await scim.user("bob@example.com", { externalId: "ada", displayName: "Bob" })
    const { browser, person } = await signIn(scim, id)
    // What the directory has pushed counts: the name, and the groups.
    assert.deepStrictEqual(person, { id: bob.id, name: "Bob", role: "member" })
    assert.lengthOf(await peopleOf(scim), 2)
    await scim.group("Leads", [bob.id])
    assert.strictEqual((await signIn(scim, id)).person.role, "lead")
    assert.deepInclude(
      (await peopleOf(scim)).find((each) => each.id === bob.id),
      { name: "Bob", role: "lead", source: "scim", issuer: issuer.url }
    )

    await scim.patch(`/Users/${bob.id}`, { op: "replace", path: "active", value: false })
    assert.strictEqual(await meStatus(scim, browser), 401)
    await refused(scim, id, suspended)
    await scim.patch(`/Users/${bob.id}`, { op: "replace", path: "active", value: true })
    const again = await signIn(scim, id)
    assert.strictEqual(again.person.id, bob.id)

    await scim.must(204, "DELETE", `/Users/${bob.id}`)
    assert.strictEqual(await meStatus(scim, again.browser), 401)
    await refused(scim, id, notPushed)
    assert.lengthOf(await peopleOf(scim), 1)
  })

  test("goes by the name where the issuer is set so, and stays tied when it is set otherwise", async (scim, issuer) => {
    const id = await register(scim.gateway, issuer, { scim: { claim: "email", attribute: "userName" } })
    await issuer.say(account("ada"))
    const ada = await scim.user("Ada@Example.com", { displayName: "Ada" })
    assert.strictEqual((await signIn(scim, id)).person.id, ada.id)
    await scim.patch(`/Users/${ada.id}`, { op: "replace", path: "userName", value: "countess@example.com" })
    assert.strictEqual((await signIn(scim, id)).person.id, ada.id)
    await scim.gateway.manage("PUT", `/api/issuers/${id}`, { scim: null })
    const { person } = await signIn(scim, id)
    assert.deepStrictEqual([person.id, person.name], [ada.id, "Ada"])
    await scim.patch(`/Users/${ada.id}`, { op: "replace", path: "active", value: "False" })
    await refused(scim, id, suspended)
  })

  test("is another person's where no issuer is named", async (scim, issuer) => {
    const id = await register(scim.gateway, issuer)
    await issuer.say(account("ada"))
    const pushed = await scim.user("ada@example.com", { externalId: "ada" })
    const { person } = await signIn(scim, id)
    assert.notStrictEqual(person.id, pushed.id)
    assert.deepStrictEqual(
      (await peopleOf(scim)).map(({ source }) => source),
      ["scim", "oidc"]
    )
    // Who was there before the directory pushed is not made one with a person of it by itself.
    await scim.gateway.manage("PUT", `/api/issuers/${id}`, { scim: {} })
    await refused(scim, id, /has signed in here before the directory pushed it/)
    await scim.gateway.manage("DELETE", `/api/users/${person.id}`)
    assert.strictEqual((await signIn(scim, id)).person.id, pushed.id)
  })

  test("does not make an account an owner by another setting of the issuer", async (scim, issuer) => {
    const id = await register(scim.gateway, issuer, { scim: {} })
    await issuer.say(account("eve"))
    const owner = await scim.user("ada@example.com", { externalId: "eve" })
    await scim.gateway.manage("PUT", `/api/users/${owner.id}`, { role: "owner" })
    await refused(scim, id, /The person is an owner/)
  })

  test("is refused to who has no role by the groups, where the issuer lets no such people in", async (scim, issuer) => {
    const id = await register(scim.gateway, issuer, {
      groups: [{ group: "Users", role: "member" }],
      defaultRole: null,
      scim: {}
    })
    await issuer.say(account("ada", { groups: ["Users"] }))
    const ada = await scim.user("ada@example.com", { externalId: "ada" })
    await refused(scim, id, /has a role here/)
    await scim.group("Users", [ada.id])
    assert.strictEqual((await signIn(scim, id)).person.role, "member")
  })
})
