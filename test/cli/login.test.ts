/** `gateway login`, contexts and logout, with the built program against a gateway of another data folder. */
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { piped, program, type Serving } from "./support.ts"
import { inTerminal } from "./terminal.ts"
import { launch } from "./built.ts"

/** Each test starts the program several times. */
const patienceMs = 120_000

const { dataDir, main, run, serve } = program()

const adminKey = "admin-key-of-the-login-test"
const password = "the admin password"
const server: { current: Serving | null } = { current: null }
beforeAll(async () => {
  server.current = await serve({
    DATA_DIR: dataDir(),
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_ADMIN_PASSWORD: password
  })
})
afterAll(async () => {
  await server.current?.stop("SIGTERM")
})
const url = (): string => server.current?.url ?? ""

const fileIn = (home: string): string => join(home, ".config", "gateway", "config.json")

const keysOf = async (): Promise<ReadonlyArray<{ readonly name: string; readonly scopes: ReadonlyArray<string> }>> => {
  const answer = await fetch(`${url()}/api/keys`, { headers: { authorization: `Bearer ${adminKey}` } })
  const { keys } = (await answer.json()) as { keys: ReadonlyArray<{ name: string; scopes: ReadonlyArray<string> }> }
  return keys
}

describe("gateway login", () => {
  it(
    "asks for the password, keeps a key made for this machine, and gives it back at logout",
    async () => {
      const DATA_DIR = dataDir()
      const { code, screen } = await inTerminal([...launch, "login", url()], { DATA_DIR }, [
        [/Admin password[^\n]*$/, "not the password\r"],
        [/The password is wrong[\s\S]*Admin password[^\n]*$/, `${password}\r`]
      ])
      assert.strictEqual(code, 0, screen)
      assert.include(screen, "Logged in to")
      assert.notInclude(screen, password)
      const [key] = await keysOf()
      assert.deepStrictEqual(key?.scopes, ["manage", "self:usage"])

      const file = fileIn(DATA_DIR)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const kept = JSON.parse(readFileSync(file, "utf8"))
      assert.strictEqual(kept.contexts[kept.current].url, url())
      const listed = await run(["key", "list", "--json"], { DATA_DIR })
      assert.deepStrictEqual([listed.code, JSON.parse(listed.stdout).keys.length], [0, 1], listed.stderr)

      const contexts = await run(["context", "list", "--json"], { DATA_DIR })
      assert.notInclude(contexts.stdout, kept.contexts[kept.current].key)
      assert.deepInclude(JSON.parse(contexts.stdout).contexts[0], { url: url(), current: true })
      assert.include((await run(["context", "show"], { DATA_DIR })).stdout, url())

      assert.strictEqual((await run(["context", "use", "local"], { DATA_DIR })).code, 0)
      assert.strictEqual((await run(["key", "list", "--json"], { DATA_DIR, PORT: "9" })).code, 3)
      assert.strictEqual((await run(["context", "use", "nowhere"], { DATA_DIR })).code, 2)
      assert.strictEqual((await run(["context", "use", kept.current], { DATA_DIR })).code, 0)

      const out = await run(["logout"], { DATA_DIR })
      assert.strictEqual(out.code, 0, out.stderr)
      assert.deepStrictEqual(await keysOf(), [])
      assert.strictEqual((await run(["logout"], { DATA_DIR })).code, 2)
    },
    patienceMs
  )

  it(
    "takes a key from standard input, and sends the key of a login nowhere else",
    async () => {
      const DATA_DIR = dataDir()
      const home = { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }
      const taken = await piped(main, ["login", url(), "--key-stdin", "--name", "work"], home, `${adminKey}\r\n`)
      assert.strictEqual(taken.code, 0, taken.stderr)
      assert.strictEqual((await run(["key", "list"], { DATA_DIR })).code, 0)
      const elsewhere = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: "another-admin-key-0123" })
      const other = await run(["key", "list", "--url", elsewhere.url], { DATA_DIR })
      assert.strictEqual(other.code, 4)
      assert.include(other.stderr, "asks for a key")
      await elsewhere.stop("SIGTERM")
      assert.strictEqual((await run(["context", "remove", "work"], { DATA_DIR })).code, 0)
      assert.include((await run(["context", "list"], { DATA_DIR })).stderr, "not logged in")
    },
    patienceMs
  )

  it(
    "adds a gateway without using it, and one command goes there with --context",
    async () => {
      const DATA_DIR = dataDir()
      const home = { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }
      const here = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: "another-admin-key-0123" })
      const added = await piped(main, ["context", "add", "work", url(), "--key-stdin"], home, adminKey)
      assert.strictEqual(added.code, 0, added.stderr)
      assert.include(added.stderr, "--context work")
      const used = ["context", "add", "near", here.url, "--key-stdin", "--use"]
      assert.strictEqual((await piped(main, used, home, "another-admin-key-0123")).code, 0)
      const { contexts } = JSON.parse((await run(["context", "list", "--json"], { DATA_DIR })).stdout)
      assert.deepStrictEqual(
        contexts.map(({ current, name }: { readonly current: boolean; readonly name: string }) => [name, current]),
        [
          ["work", false],
          ["near", true]
        ]
      )
      const made = await run(["key", "add", "made at work", "--context", "work"], { DATA_DIR })
      assert.strictEqual(made.code, 0, made.stderr)
      assert.include(
        (await keysOf()).map(({ name }) => name),
        "made at work"
      )
      assert.notInclude((await run(["key", "list"], { DATA_DIR })).stdout, "made at work")
      for (const [args, words] of [
        [["--context", "nowhere"], "no login 'nowhere'"],
        [["--context", "work", "--local"], "--local and --context"],
        [["--context", "work", "--url", url()], "--context and --url"]
      ] as const) {
        const refused = await run(["key", "list", ...args], { DATA_DIR })
        assert.strictEqual(refused.code, 2)
        assert.include(refused.stderr, words)
      }
      // 'local' is this machine's gateway, of which there is none here.
      assert.strictEqual((await run(["key", "list", "--context", "local"], { DATA_DIR, PORT: "9" })).code, 3)
      await here.stop("SIGTERM")
    },
    patienceMs
  )

  it(
    "stores nothing for a wrong key, a closed input, an open address, or no gateway",
    async () => {
      const DATA_DIR = dataDir()
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string, number, string]> = [
        [[url(), "--key-stdin"], "wrong-key-0123456789", 4, "does not accept this key"],
        [[url(), "--key-stdin"], "", 2, "no key on standard input"],
        [[url(), "--key-stdin"], "two words", 2, "space"],
        [[url()], "", 2, "--key-stdin"],
        [["http://gateway.example", "--key-stdin"], adminKey, 2, "--insecure"],
        [["ftp://gateway.example", "--key-stdin"], adminKey, 2, "not the address"],
        [["https://user:secret@gateway.example", "--key-stdin"], adminKey, 2, "not the address"],
        [["http://127.0.0.1:9", "--key-stdin"], adminKey, 3, "No gateway answers"],
        [[url(), "--name", "local", "--key-stdin"], adminKey, 2, "local"]
      ]
      for (const [args, input, code, words] of cases) {
        const home = { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }
        const refused = await piped(main, ["login", ...args], home, input)
        assert.strictEqual(refused.code, code, `${args.join(" ")}: ${refused.stderr}`)
        assert.include(refused.stderr, words)
        assert.notInclude(refused.stderr, adminKey)
      }
      assert.isFalse(existsSync(fileIn(DATA_DIR)))
    },
    patienceMs
  )

  it(
    "a file that is broken or open to others stops commands with exit code 2, and is not overwritten",
    async () => {
      const DATA_DIR = dataDir()
      const file = fileIn(DATA_DIR)
      mkdirSync(join(file, ".."), { recursive: true })
      const good = `{"current":"work","contexts":{"work":{"url":"${url()}","key":"${adminKey}","keyId":null}}}`
      for (const [text, mode, words] of [
        ["{", 0o600, "does not hold"],
        [`{"current":"work","contexts":{"work":{"url":"x"}}}`, 0o600, "does not hold"],
        [good.replace('"current":"work"', '"current":"gone"'), 0o600, "'gone'"],
        [good, 0o644, "chmod 600"]
      ] as const) {
        writeFileSync(file, text)
        chmodSync(file, mode)
        const home = { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }
        for (const args of [["key", "list"], ["status"]]) {
          const { code, stderr, stdout } = await run(args, { DATA_DIR })
          assert.deepStrictEqual([code, stdout], [2, ""], stderr)
          assert.include(stderr, words)
          assert.notInclude(stderr, adminKey)
        }
        if (!words.includes("gone")) {
          const again = await piped(main, ["login", url(), "--key-stdin"], home, adminKey)
          assert.strictEqual(again.code, 2, again.stderr)
        }
        assert.strictEqual(readFileSync(file, "utf8"), text)
      }
      chmodSync(file, 0o600)
      assert.strictEqual((await run(["key", "list"], { DATA_DIR })).code, 0)
    },
    patienceMs
  )
})
