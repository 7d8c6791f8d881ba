/** The way from nothing to a plugin that is called on real requests, by the commands of `docs/plugins.md` alone, with the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { shownPlugin } from "../support/RealPlugins.ts"
import { adminKey, client } from "../support/TestGateway.ts"
import { fed, program } from "./support.ts"

const { dataDir, main, serve } = program()

const page = readFileSync(new URL("../../docs/plugins.md", import.meta.url), "utf8")

/** A command as the page has it, without its comment. */
const documented = (start: string): ReadonlyArray<string> => {
  const line = page.split("\n").find((each) => each.startsWith(`gateway ${start}`))
  assert.isDefined(line, start)
  const words = line.split("#", 1)[0]?.match(/"[^"]*"|\S+/g) ?? []
  return words.slice(1).map((word) => word.replaceAll('"', ""))
}

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.sse(Fake.chatStream(["Hello ", "there"])))
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey })),
    ({ stop }) => Effect.promise(() => stop("SIGTERM"))
  )
  const gateway = client(server.url)
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  // Where the author works: the server's data are elsewhere.
  const folder = dataDir()
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DATA_DIR: folder,
    GATEWAY_URL: server.url,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_MODEL: "up/m"
  }
  const typed = async (words: ReadonlyArray<string>, without: ReadonlyArray<string> = []) => {
    const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !without.includes(name)))
    const { code, stderr, stdout } = await fed(main, words, kept, "", folder)
    return { code, stderr, stdout: stdout.toString() }
  }
  const good = async (words: ReadonlyArray<string>, without?: ReadonlyArray<string>): Promise<string> => {
    const { code, stderr, stdout } = await typed(words, without)
    assert.strictEqual(code, 0, `${words.join(" ")}\n${stdout}${stderr}`)
    return stdout + stderr
  }
  return { folder, gateway, good, typed, upstream }
})

describe("a new user's plugin", () => {
  it.scopedLive(
    "is made, tested, installed, called, configured, changed and replaced as the page says",
    () =>
      Effect.flatMap(setUp, ({ folder, gateway, good, typed, upstream }) =>
        Effect.promise(async () => {
          await good(documented("plugin new"))
          for (const name of ["plugin.json", "index.js", "gateway-plugin.d.ts", "tests"])
            assert.isTrue(existsSync(join(folder, "my-plugin", name)), name)
          // The page says that tests need no gateway.
          const tested = await good(documented("plugin test"), ["GATEWAY_URL", "GATEWAY_ADMIN_KEY"])
          assert.strictEqual(tested.match(/\byes\b/g)?.length, 2, tested)
          assert.include(page, "`gateway plugin check my-plugin`")
          await good(["plugin", "check", "my-plugin"])
          await good(documented("plugin install my-plugin --activate"))
          const taken = await typed(["plugin", "install", "my-plugin"])
          assert.strictEqual(taken.code, 1)
          assert.match(taken.stderr, /already a plugin 'my-plugin'\.\n.*--replace/)
          assert.notInclude(taken.stderr, "replace: true", "that is how a request says it")

          assert.include(await good(documented('chat "Hello"')), "Hello there")
          const log = await eventually(
            "a line in the log",
            () => good(["plugin", "logs", "my-plugin"]),
            (text) => text.includes("chat up/m")
          )
          assert.notInclude(log, "Hello there")
          assert.strictEqual((await shownPlugin(gateway, "my-plugin")).stats.calls, 1)

          await good(documented("plugin config my-plugin"))
          const refused = await typed(documented('chat "a secret word"'))
          assert.notStrictEqual(refused.code, 0)
          assert.include(refused.stderr, "This request is not allowed here.")
          assert.strictEqual(upstream.requests.length, 1)

          const file = join(folder, "my-plugin", "index.js")
          writeFileSync(file, readFileSync(file, "utf8").replace("is not allowed here", "is refused"))
          await good(["plugin", "install", "my-plugin", "--replace"])
          assert.include(page, "`gateway plugin install my-plugin --replace`")
          const again = await typed(documented('chat "a secret word"'))
          assert.include(again.stderr, "This request is refused.", "it keeps its settings and is in force at once")

          const code = readFileSync(file, "utf8")
          writeFileSync(file, code.replace("definePlugin({", "definePlugin({ strategies: { mine: (pool) => pool[0] },"))
          await good(["plugin", "install", "my-plugin", "--replace"])
          assert.match(await good(["plugin", "show", "my-plugin"]), /^strategy +mine\b/m)
          const [listed] = JSON.parse(await good(["plugin", "list", "--json"])).plugins
          assert.deepStrictEqual(listed.strategies, ["mine"])
        })
      ),
    60_000
  )

  it.scopedLive(
    "says which test fails and why, and is not installed with a hook that it has not",
    () =>
      Effect.flatMap(setUp, ({ folder, gateway, good, typed }) =>
        Effect.promise(async () => {
          await good(documented("plugin new"))
          const file = join(folder, "my-plugin", "index.js")
          const code = readFileSync(file, "utf8")
          writeFileSync(file, code.replace("status: 403", "status: 451"))
          const tested = await typed(documented("plugin test"))
          assert.strictEqual(tested.code, 1, tested.stdout + tested.stderr)
          assert.match(tested.stdout + tested.stderr, /403[^]*451|451[^]*403/)
          const told = JSON.parse((await typed([...documented("plugin test"), "--json"])).stdout)
          assert.isFalse(told.ok)
          assert.deepInclude(told.tests[0].logs[0], { level: "info", hook: "onRequest" })
          assert.match(told.tests[0].logs[0].at, /^\d{4}-\d\d-\d\dT/)
          writeFileSync(file, code.replace("onRequest:", "onError:"))
          const installed = await typed(documented("plugin install my-plugin --activate"))
          assert.notStrictEqual(installed.code, 0)
          assert.include(installed.stderr, "hooks.onRequest")
          assert.deepStrictEqual((await gateway.manage("GET", "/api/plugins")).plugins, [])
        })
      ),
    60_000
  )
})
