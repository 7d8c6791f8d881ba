/** A sign-in over two gateways on one database: begun at one, come back to the other, and used once. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, describe, it } from "vitest"
import { Browser, startIssuer } from "../support/issuer/TestIssuer.ts"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { emptyDatabase, nodeVariables } from "./postgres.ts"
import { manage, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const there = isPostgresThere()
const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

interface Issuer {
  readonly id: string
  readonly redirectUri: string
}

const issuersAt = async (server: Serving): Promise<ReadonlyArray<Issuer>> =>
  ((await manage(server, "GET", "/api/issuers")) as { readonly issuers: ReadonlyArray<Issuer> }).issuers

describe.skipIf(!there)(`a sign-in over two gateways${there ? "" : noPostgres}`, () => {
  it("ends where its browser comes back to, and is over at both then", async () => {
    const database = await emptyDatabase()
    const environment = nodeVariables(database)
    const one = await serve({ ...environment, DATA_DIR: dataDir() })
    const two = await serve({ ...environment, DATA_DIR: dataDir() })
    const directory = await Effect.runPromise(Scope.extend(startIssuer, scope))
    const { issuer } = (await manage(one, "POST", "/api/issuers", {
      name: "Company",
      issuer: directory.url,
      clientId: "gateway",
      clientSecret: "a-secret-of-the-client-of-the-tests",
      scopes: ["openid", "profile", "email"]
    })) as { readonly issuer: Issuer }
    const client = { client_id: "gateway", client_secret: "a-secret-of-the-client-of-the-tests" }
    await directory.say({
      clients: [{ ...client, redirect_uris: [issuer.redirectUri] }],
      account: { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true, groups: [] }
    })
    await until(async () => (await issuersAt(two)).length === 1, "the other one has the issuer")

    const browser = new Browser()
    const back = await browser.wayBack(one.url, issuer.id)
    const atTwo = back.replace(one.url, two.url)
    // Behind one address both get the browser's cookies.
    for (const [name, value] of browser.cookies(one.url)) browser.cookies(two.url).set(name, value)
    const again = new Browser()
    for (const [name, value] of browser.cookies(one.url)) again.cookies(one.url).set(name, value)
    const arrived = await browser.get(atTwo)
    assert.strictEqual(arrived.status, 200, await arrived.text())
    await until(async () => {
      const { total } = (await manage(one, "GET", "/api/auth/sessions")) as { readonly total: number }
      return total === 1
    }, "the session is known to both")
    await until(async () => {
      const response = await again.get(back)
      const page = await response.text()
      // Until the first one has heard of it, the issuer says that the code was used.
      assert.include([400, 502], response.status, page)
      return response.status === 400 && page.includes("was used already")
    }, "what was used at one is over at the other")
    assert.strictEqual(await one.stop("SIGTERM"), 0)
    assert.strictEqual(await two.stop("SIGTERM"), 0)
  }, 240_000)
})
