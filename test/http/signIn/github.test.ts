/** Sign-in by GitHub's OAuth, of an Enterprise Server that a test stands in for: it issues no ID token, and its API says who it is. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Browser } from "../../support/issuer/TestIssuer.ts"
import * as Gateway from "../../support/TestGateway.ts"

const secret = "a-secret-of-the-app-of-the-tests"

interface Account {
  readonly id: number
  readonly login: string
  readonly emails: ReadonlyArray<{ email: string; primary: boolean; verified: boolean }>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

const startGithub = Effect.acquireRelease(
  Effect.promise(async () => {
    const said = {
      account: { id: 7, login: "ada", emails: [{ email: "Ada@Example.com", primary: true, verified: true }] } as Account
    }
    let challenge = ""
    const json = (response: ServerResponse, value: unknown): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
    }
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const url = new URL(request.url ?? "/", "http://github")
      if (url.pathname === "/login/oauth/authorize") {
        challenge = url.searchParams.get("code_challenge") ?? ""
        const back = new URL(url.searchParams.get("redirect_uri") ?? "")
        back.searchParams.set("code", "the-code")
        back.searchParams.set("state", url.searchParams.get("state") ?? "")
        return void response.writeHead(302, { location: back.href }).end()
      }
      if (url.pathname === "/login/oauth/access_token") {
        const asked = new URLSearchParams(await bodyOf(request))
        const verifier = createHash("sha256")
          .update(asked.get("code_verifier") ?? "")
          .digest("base64url")
        const isGood =
          asked.get("code") === "the-code" && asked.get("client_secret") === secret && verifier === challenge
        // GitHub answers errors with 200.
        return json(
          response,
          isGood
            ? { access_token: "gho_token", token_type: "bearer", scope: "read:user" }
            : { error: "bad_verification_code", error_description: "The code passed is incorrect or expired." }
        )
      }
      if (request.headers.authorization?.toLowerCase() !== "bearer gho_token") return void response.writeHead(401).end()
      const { emails, id, login } = said.account
      const answers: Readonly<Record<string, unknown>> = {
        "/api/v3/user": { id, login, name: null },
        "/api/v3/user/emails": emails,
        "/api/v3/user/teams": [{ slug: "leads", organization: { login: "company" } }],
        "/api/v3/user/orgs": [{ login: "company" }]
      }
      json(response, answers[url.pathname])
    }
    const server = createServer((request, response) => {
      serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, said, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

describe("GitHub", () => {
  it.scopedLive("signs people in by the id of the account, with teams as groups", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway.start()
      const github = yield* startGithub
      yield* Effect.promise(async () => {
        const { issuer } = await gateway.manage("POST", "/api/issuers", {
          name: "GitHub",
          kind: "github",
          issuer: github.url,
          clientId: "app",
          clientSecret: secret,
          groups: [{ group: "company/leads", role: "lead" }],
          allowedGroups: ["company"]
        })
        assert.strictEqual((await new Browser().signIn(gateway.url, issuer.id)).status, 200)
        github.said.account = { ...github.said.account, login: "ada-renamed" }
        assert.strictEqual((await new Browser().signIn(gateway.url, issuer.id)).status, 200)
        const { users } = await gateway.manage("GET", "/api/users")
        assert.strictEqual(users.length, 1)
        assert.deepInclude(users[0], {
          name: "ada-renamed",
          email: "ada@example.com",
          role: "lead",
          issuer: github.url
        })
        const emails = [{ email: "eve@example.com", primary: true, verified: false }]
        github.said.account = { id: 8, login: "eve", emails }
        const refused = await new Browser().signIn(gateway.url, issuer.id)
        assert.strictEqual(refused.status, 403)
        const clientSecret = "another-secret-of-the-app"
        await gateway.manage("PUT", `/api/issuers/${issuer.id}`, { clientSecret })
        const wrong = await new Browser().signIn(gateway.url, issuer.id)
        assert.strictEqual(wrong.status, 502)
        assert.include(wrong.page, "bad_verification_code")
      })
    })
  )
})
