/** Logins at the command line over two gateways on one database: begun at one, allowed and asked for at the other, and given once. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, describe, it } from "vitest"
import { Machine, PersonsPage, withToken } from "../http/logins/support.ts"
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

const statusAt = async ({ url }: Serving, token: string): Promise<number> =>
  (await withToken(url, token, "/api/me")).status

describe.skipIf(!there)(`a login over two gateways${there ? "" : noPostgres}`, () => {
  it("goes on at either, is given once, and ends at both within a minute when the person goes", async () => {
    const environment = nodeVariables(await emptyDatabase())
    const one = await serve({ ...environment, DATA_DIR: dataDir() })
    const two = await serve({ ...environment, DATA_DIR: dataDir() })
    const directory = await Effect.runPromise(Scope.extend(startIssuer, scope))
    const { issuer } = (await manage(one, "POST", "/api/issuers", {
      name: "Company",
      issuer: directory.url,
      clientId: "gateway"
    })) as { readonly issuer: Issuer }
    const client = { client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [issuer.redirectUri] }
    await directory.say({ clients: [client] })

    const browser = new Browser()
    assert.strictEqual((await browser.signIn(one.url, issuer.id)).status, 200)
    for (const [name, value] of browser.cookies(one.url)) browser.cookies(two.url).set(name, value)
    const [pageOfOne, pageOfTwo] = [new PersonsPage(one.url, browser), new PersonsPage(two.url, browser)]
    await until(async () => (await pageOfTwo.csrf()) !== "", "the other one knows the session")

    const machine = new Machine(one.url)
    assert.strictEqual((await machine.begin("device")).status, 200)
    assert.strictEqual((await pageOfOne.look(machine.code)).status, 200)
    assert.strictEqual((await pageOfTwo.answer(machine.code)).status, 200)
    const all = await Promise.all(
      [one, two, one, two].map(({ url }) => Object.assign(new Machine(url), { secret: machine.secret }).ask())
    )
    const given = all.filter(({ body }) => body.status === "logged_in")
    assert.lengthOf(given, 1)
    const token = String(given[0]?.body.login.token)
    await until(
      async () => (await statusAt(one, token)) === 200 && (await statusAt(two, token)) === 200,
      "both know it"
    )

    const { users } = (await manage(one, "GET", "/api/users")) as {
      readonly users: ReadonlyArray<{ readonly id: string }>
    }
    const wentAt = performance.now()
    await manage(two, "PUT", `/api/users/${users[0]?.id}`, { state: "suspended" })
    await until(async () => (await statusAt(one, token)) === 401 && (await statusAt(two, token)) === 401, "it is over")
    assert.isBelow(performance.now() - wentAt, 60_000)
    for (const server of [one, two]) await server.stop("SIGTERM")
  }, 180_000)
})
