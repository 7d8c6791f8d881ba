/** `gateway login --sso`, with the built program, a gateway of another data folder, and a real issuer. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { PersonsPage } from "../http/logins/support.ts"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { nodeFlags } from "./built.ts"
import { type Ended, program, type Serving } from "./support.ts"

/** Each test starts the program several times. */
const patienceMs = 180_000

const { dataDir, main, run, serve } = program()

const adminKey = "admin-key-of-the-sso-test"
const scope = Effect.runSync(Scope.make())
let server: Serving
let issuer: TestIssuer
let issuerId = ""

const manage = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

beforeAll(async () => {
  server = await serve({
    DATA_DIR: dataDir(),
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true"
  })
  issuer = await Effect.runPromise(Scope.extend(startIssuer, scope))
}, 120_000)
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await server.stop("SIGTERM")
})

const fileIn = (home: string): string => join(home, ".config", "gateway", "config.json")

/** Runs the program; `seen` gets what it has said so far, until it returns true. */
const watched = async (
  args: ReadonlyArray<string>,
  home: string,
  seen: (said: string) => Promise<boolean>
): Promise<Ended> => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    env: { DATA_DIR: home, HOME: home, PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let [stdout, stderr, isSeen] = ["", "", false]
  let failed: unknown = null
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString()
    if (isSeen) return
    const look = async (): Promise<void> => {
      try {
        if (await seen(stderr)) isSeen = true
      } catch (error) {
        failed = error
        child.kill()
      }
    }
    void look()
  })
  const [code] = (await once(child, "close")) as [number | null]
  if (failed !== null) throw failed as Error
  return { code, stdout, stderr }
}

const signedIn = async (): Promise<PersonsPage> => {
  const page = new PersonsPage(server.url)
  const { page: text, status } = await page.browser.signIn(server.url, issuerId)
  assert.strictEqual(status, 200, text)
  return page
}

/** Allows the login whose code the program shows, once. */
const allowing = (pattern: RegExp, then: (code: string) => Promise<unknown>) => {
  let isDone = false
  return async (said: string): Promise<boolean> => {
    const code = pattern.exec(said)?.[1]
    if (code === undefined || isDone) return isDone
    isDone = true
    await then(code)
    return true
  }
}

const deviceCode = /\b([A-Z]{4}-[A-Z]{4})\b/
const request = /\/dashboard\/login#request=([\w-]{43})/

describe("gateway login --sso", () => {
  it(
    "says what to do where no directory signs people in, and which flags go together",
    async () => {
      const DATA_DIR = dataDir()
      const none = await run(["login", server.url, "--sso", "--device"], { DATA_DIR })
      assert.strictEqual(none.code, 1, none.stderr)
      assert.include(none.stderr, "gateway issuers add")
      assert.strictEqual((await run(["login", server.url, "--device"], { DATA_DIR })).code, 2)
      const both = await run(["login", server.url, "--sso", "--key-stdin"], { DATA_DIR })
      assert.strictEqual(both.code, 2)
      assert.include(both.stderr, "two ways")
      assert.isFalse(existsSync(fileIn(DATA_DIR)))
    },
    patienceMs
  )

  it(
    "by a device code keeps a credential of the person, with which a member asks for what is the member's",
    async () => {
      const { issuer: made } = await manage("POST", "/api/issuers", {
        name: "Company",
        issuer: issuer.url,
        clientId: "gateway"
      })
      issuerId = made.id
      const client = { client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [made.redirectUri] }
      await issuer.say({ clients: [client] })
      const page = await signedIn()
      const DATA_DIR = dataDir()
      const ended = await watched(
        ["login", server.url, "--sso", "--device", "--name", "work"],
        DATA_DIR,
        allowing(deviceCode, async (code) => {
          assert.strictEqual((await page.allow(code)).status, 200)
        })
      )
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.include(ended.stderr, "Allowed by Ada (ada@example.com)")
      assert.include(ended.stderr, "the role 'member'")
      const file = fileIn(DATA_DIR)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const token = String(JSON.parse(readFileSync(file, "utf8")).contexts.work.key)
      assert.match(token, /^gws_\w{49}$/)
      assert.notInclude(ended.stderr + ended.stdout, token)

      const [ada] = (await manage("GET", "/api/users")).users
      const { team } = await manage("POST", "/api/teams", { name: "Research", members: [ada.id] })
      await manage("PUT", `/api/teams/${team.id}`, { budget: { dailyLimitUsd: 20 } })
      await manage("POST", "/api/keys", { name: "laptop", userId: ada.id, teamId: team.id })
      await manage("POST", "/api/keys", { name: "of nobody" })
      const typed = async (...args: ReadonlyArray<string>) => {
        const done = await run(args, { DATA_DIR })
        assert.strictEqual(done.code, 0, `${args.join(" ")}: ${done.stderr}`)
        return done.stdout
      }
      const me = JSON.parse(await typed("me", "--json"))
      assert.deepInclude(me.person, { name: "Ada", role: "member" })
      assert.deepStrictEqual(
        me.keys.map(({ name }: { name: string }) => name),
        ["laptop"]
      )
      assert.include(await typed("me"), "team Research")
      assert.include(await typed("whoami"), "a person who has logged in")
      assert.include(await typed("key", "list"), "laptop")
      assert.notInclude(await typed("key", "list"), "of nobody")
      for (const args of [["usage"], ["cost"], ["logs"], ["budget", "list"], ["cost", "--by", "person"]])
        await typed(...args)
      const refused = await run(["provider", "list"], { DATA_DIR })
      assert.strictEqual(refused.code, 4)
      assert.include(refused.stderr, "gateway whoami")
      const models = await run(["chat", "Hello", "--model", "openai/gpt-4o"], { DATA_DIR })
      assert.notStrictEqual(models.code, 0)
      assert.include(models.stderr, "asks no models")

      await manage("PUT", `/api/users/${ada.id}`, { role: "lead" })
      await manage("POST", "/api/keys", { name: "of the team", teamId: team.id })
      assert.include(await typed("key", "list"), "of the team")
      await manage("PUT", `/api/users/${ada.id}`, { role: "admin" })
      assert.include(await typed("key", "list"), "of nobody")
      await typed("provider", "list")
      await manage("PUT", `/api/users/${ada.id}`, { role: "member" })

      const sessions = async () =>
        (await manage("GET", "/api/auth/sessions")).sessions.filter(({ via }: { via: string }) => via === "commandLine")
      assert.lengthOf(await sessions(), 1)
      assert.strictEqual((await run(["logout"], { DATA_DIR })).code, 0)
      assert.lengthOf(await sessions(), 0)
    },
    patienceMs
  )

  it(
    "by the browser takes the code of its own login and gateway only",
    async () => {
      const DATA_DIR = dataDir()
      const page = await signedIn()
      const host = new URL(server.url).host
      const followed: Array<number> = []
      const ended = await watched(
        ["login", server.url, "--sso", "--no-open"],
        DATA_DIR,
        allowing(request, async (code) => {
          const back = new URL((await page.allow(code)).body.redirect)
          const arrive = async (change: (url: URL) => void): Promise<void> => {
            const url = new URL(back)
            url.searchParams.set("iss", host)
            change(url)
            followed.push((await fetch(url)).status)
          }
          await arrive((url) => url.searchParams.set("state", "another"))
          await arrive((url) => (url.pathname = "/other"))
          await arrive(() => undefined)
        })
      )
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.deepStrictEqual(followed, [404, 404, 200])
      assert.strictEqual((await run(["whoami"], { DATA_DIR })).code, 0)
      const elsewhere = await watched(
        ["login", server.url, "--sso", "--no-open", "--name", "other"],
        DATA_DIR,
        allowing(request, async (code) => {
          const back = new URL((await page.allow(code)).body.redirect)
          back.searchParams.set("iss", "evil.example")
          await fetch(back)
        })
      )
      assert.strictEqual(elsewhere.code, 1, elsewhere.stderr)
      assert.include(elsewhere.stderr, "from another gateway")
      assert.notProperty(JSON.parse(readFileSync(fileIn(DATA_DIR), "utf8")).contexts, "other")
    },
    patienceMs
  )

  it(
    "tells that it was refused, and that the person went",
    async () => {
      const DATA_DIR = dataDir()
      const page = await signedIn()
      const refused = await watched(
        ["login", server.url, "--sso", "--device"],
        DATA_DIR,
        allowing(deviceCode, async (code) => {
          await page.look(code)
          assert.strictEqual((await page.answer(code, false)).status, 200)
        })
      )
      assert.strictEqual(refused.code, 4, refused.stderr)
      assert.include(refused.stderr, "refused in the browser")
      assert.isFalse(existsSync(fileIn(DATA_DIR)))
      const ended = await watched(
        ["login", server.url, "--sso", "--device"],
        DATA_DIR,
        allowing(deviceCode, async (code) => {
          assert.strictEqual((await page.allow(code)).status, 200)
        })
      )
      assert.strictEqual(ended.code, 0, ended.stderr)
      const [ada] = (await manage("GET", "/api/users")).users
      await manage("PUT", `/api/users/${ada.id}`, { state: "suspended" })
      const gone = await run(["me"], { DATA_DIR })
      assert.strictEqual(gone.code, 4)
      assert.include(gone.stderr, "login <url> --sso")
      assert.strictEqual((await run(["logout"], { DATA_DIR })).code, 0)
    },
    patienceMs
  )
})
