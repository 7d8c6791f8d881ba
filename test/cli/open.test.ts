/** `gateway open`, and what `serve` opens on a terminal: the built program, with its dashboard and with that turned off. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import * as Terminal from "../support/Terminal.ts"
import { launch } from "./built.ts"
import { program, project } from "./support.ts"

const patienceMs = 120_000
const { dataDir, run, serve } = program()

/** A machine with a screen, whose browser writes down the address that it is to open. */
const machine = () => {
  const DATA_DIR = dataDir()
  const told = join(DATA_DIR, "told")
  const opener = join(DATA_DIR, "xdg-open")
  writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > '${told}.new' && mv '${told}.new' '${told}'\n`)
  chmodSync(opener, 0o755)
  const environment = { DATA_DIR, PATH: `${DATA_DIR}:${process.env["PATH"] ?? ""}`, DISPLAY: ":0" }
  const asked = (): string => readFileSync(told, "utf8")
  return { environment, asked, isAsked: () => existsSync(told) }
}

const exchange = async (url: string, address: string) => {
  const code = /#code=([\w-]{43})$/.exec(address)?.[1] ?? ""
  const answer = await fetch(`${url}/api/auth/codes/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code })
  })
  return { status: answer.status, cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" }
}

const listening = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  const file = join(environment["DATA_DIR"] ?? "", "owner-token.json")
  await eventually("the gateway", () => existsSync(file), Boolean, { withinMs: 60_000 })
  return JSON.parse(readFileSync(file, "utf8")).url
}

describe("gateway open", () => {
  it(
    "says so where there is no dashboard, and makes no code",
    async () => {
      const { environment, isAsked } = machine()
      const server = await serve({ ...environment, GATEWAY_DASHBOARD: "false" })
      const opened = await run(["open"], environment)
      assert.deepStrictEqual([opened.code, opened.stdout], [1, ""], opened.stderr)
      assert.match(opened.stderr, /has no dashboard/)
      assert.isFalse(isAsked())
      const page = await fetch(`${server.url}/dashboard/`)
      assert.deepStrictEqual([page.status, Object(await page.json()).error.code], [404, "no_dashboard"])
      await server.stop("SIGTERM")
    },
    patienceMs
  )

  it.scopedLive(
    "opens the page with a code that counts once, as serve on a terminal does, and not with --no-open",
    () =>
      Effect.gen(function* () {
        const { asked, environment, isAsked } = machine()
        const inTerminal = (...words: ReadonlyArray<string>) =>
          Terminal.open([...launch, ...words], {
            cwd: project,
            env: { ...environment, HOME: environment.DATA_DIR },
            columns: 120,
            rows: 40
          })
        const watched = yield* inTerminal("serve", "--port", "0")
        yield* watched.shows(/Dashboard: http:\S+\/dashboard\/ \(opened in the browser\)/)
        const url = yield* Effect.promise(() => listening(environment))
        assert.match(asked(), /\/dashboard\/#code=[\w-]{43}$/)
        assert.isTrue(asked().startsWith(url))
        assert.notInclude(watched.screen(), "#code=")
        const first = yield* Effect.promise(() => exchange(url, asked()))
        assert.strictEqual(first.status, 200)
        assert.strictEqual((yield* Effect.promise(() => exchange(url, asked()))).status, 401)

        const again = yield* Effect.promise(() => run(["open", "--json"], environment))
        const told = JSON.parse(again.stdout)
        assert.deepStrictEqual([again.code, told.opened, told.url], [0, true, `${url}/dashboard/`], again.stderr)
        assert.notInclude(again.stdout + again.stderr, "#code=")
        const second = yield* Effect.promise(() => exchange(url, asked()))
        assert.strictEqual(second.status, 200)

        const before = asked()
        for (const [words, more] of [
          [["open", "--no-open"], {}],
          [["dashboard"], { SSH_CONNECTION: "x" }],
          [["open"], { DISPLAY: "" }]
        ] as const) {
          const printed = yield* Effect.promise(() => run(words, { ...environment, ...more }))
          assert.strictEqual(printed.code, 0, printed.stderr)
          assert.match(printed.stdout, /^http:\S+\/dashboard\/#code=[\w-]{43}\n$/)
          assert.match(printed.stderr, /counts once/)
          assert.strictEqual(asked(), before)
          assert.strictEqual((yield* Effect.promise(() => exchange(url, printed.stdout.trim()))).status, 200)
        }

        const list = yield* Effect.promise(() => run(["admin-session", "list", "--json"], environment))
        const { sessions } = JSON.parse(list.stdout)
        assert.deepStrictEqual(
          sessions.map(({ via }: { readonly via: string }) => via),
          ["code", "code", "code", "code", "code"]
        )
        const one = yield* Effect.promise(() => run(["admin-session", "end", sessions[0].id.slice(0, 12)], environment))
        assert.strictEqual(one.code, 0, one.stderr)
        const neither = yield* Effect.promise(() => run(["admin-session", "end"], environment))
        assert.strictEqual(neither.code, 2)
        const rest = yield* Effect.promise(() => run(["admin-session", "end", "--all", "--json"], environment))
        assert.strictEqual(JSON.parse(rest.stdout).ended, 4)
        const out = yield* Effect.promise(() =>
          fetch(`${url}/api/keys`, { headers: { cookie: second.cookie } }).then(({ status }) => status)
        )
        assert.strictEqual(out, 401)
        assert.isTrue(isAsked())
      }),
    patienceMs
  )

  it.scopedLive(
    "serve opens nothing with --no-open",
    () =>
      Effect.gen(function* () {
        const { environment, isAsked } = machine()
        const quiet = yield* Terminal.open([...launch, "serve", "--port", "0", "--no-open"], {
          cwd: project,
          env: { ...environment, HOME: environment.DATA_DIR },
          columns: 120,
          rows: 40
        })
        yield* quiet.shows(/Ctrl-C stops/)
        const url = yield* Effect.promise(() => listening(environment))
        assert.strictEqual((yield* Effect.promise(() => fetch(`${url}/dashboard/`))).status, 200)
        assert.notInclude(quiet.screen(), "Dashboard:")
        assert.isFalse(isAsked())
      }),
    patienceMs
  )
})
