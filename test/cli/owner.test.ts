/** Which gateway a command asks: on the machine of the data folder no key is needed, whether a gateway runs there or not. */
import { assert, describe, it } from "@effect/vitest"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { piped, program } from "./support.ts"

/** Each test starts the program several times. */
const patienceMs = 120_000

const { dataDir, main, run, serve } = program()

const fileOf = (folder: string): string => join(folder, "owner-token.json")

describe("beside a running gateway, as its owner", () => {
  it(
    "needs no key, and what is changed with --local is seen by the gateway at once",
    async () => {
      const DATA_DIR = dataDir()
      const server = await serve({ DATA_DIR })
      const listed = await run(["keys", "list", "--json"], { DATA_DIR })
      assert.deepStrictEqual([listed.code, JSON.parse(listed.stdout).keys], [0, []], listed.stderr)

      const made = await run(["keys", "add", "ops", "--scope", "manage", "--local"], { DATA_DIR })
      assert.strictEqual(made.code, 0, made.stderr)
      const asked = await fetch(`${server.url}/api/providers`, {
        headers: { authorization: `Bearer ${made.stdout.trim()}` }
      })
      assert.strictEqual(asked.status, 200)

      const setup = ["setup", "--non-interactive", "--password-stdin", "--provider", "ollama"]
      const home = { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }
      const empty = await piped(main, setup, home, "")
      assert.strictEqual(empty.code, 2, empty.stderr)
      const done = await piped(main, setup, home, "a long password\n")
      assert.strictEqual(done.code, 0, done.stderr)
      const { connections } = JSON.parse((await run(["provider", "list", "--json"], { DATA_DIR })).stdout)
      assert.strictEqual(connections[0].provider, "ollama")
      const login = await fetch(`${server.url}/api/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ password: "a long password" })
      })
      assert.strictEqual(login.status, 200)
      await server.stop("SIGTERM")
      assert.isFalse(existsSync(fileOf(DATA_DIR)))
    },
    patienceMs
  )

  it(
    "a file that is not to be trusted is refused with what is wrong and what to do; one left by a killed gateway is none",
    async () => {
      const DATA_DIR = dataDir()
      const server = await serve({ DATA_DIR })
      const file = fileOf(DATA_DIR)
      const kept = readFileSync(file, "utf8")
      const refused = async (words: string) => {
        const { code, stderr, stdout } = await run(["keys", "list"], { DATA_DIR })
        assert.deepStrictEqual([code, stdout], [1, ""], words)
        assert.include(stderr, file)
        assert.include(stderr, words)
        assert.include(stderr, "Restart the gateway")
        assert.notInclude(stderr, JSON.parse(kept).token)
      }
      chmodSync(file, 0o644)
      await refused("0644")
      chmodSync(file, 0o600)
      // Only root can give a file away.
      if (process.getuid?.() === 0) {
        chownSync(file, 12_345, 12_345)
        await refused("another user")
        chownSync(file, 0, 0)
      }
      writeFileSync(file, kept.replace("127.0.0.1", "10.1.2.3"))
      await refused("10.1.2.3")
      writeFileSync(file, "{")
      await refused("does not hold")
      writeFileSync(file, kept)
      renameSync(file, `${file}.elsewhere`)
      symlinkSync(`${file}.elsewhere`, file)
      await refused("symbolic link")
      rmSync(file)
      copyFileSync(`${file}.elsewhere`, file)
      assert.strictEqual((await run(["keys", "list"], { DATA_DIR })).code, 0)

      await server.stop("SIGKILL")
      assert.isTrue(existsSync(file))
      const offline = await run(["keys", "list"], { DATA_DIR, PORT: new URL(server.url).port })
      assert.deepStrictEqual([offline.code, offline.stdout], [3, ""])
      assert.include(offline.stderr, "gateway serve")
      // The process id may belong to another program by now.
      writeFileSync(file, kept.replace(/"pid":\d+/, `"pid":${process.pid}`))
      assert.strictEqual((await run(["keys", "list"], { DATA_DIR, PORT: new URL(server.url).port })).code, 3)
      const made = await run(["keys", "add", "ops"], { DATA_DIR })
      assert.strictEqual(made.code, 0, made.stderr)
    },
    patienceMs
  )
})

describe("while a gateway starts", () => {
  it(
    "what a command changes is known to the gateway, whoever comes first",
    async () => {
      const DATA_DIR = dataDir()
      const [server, made] = await Promise.all([serve({ DATA_DIR }), run(["key", "add", "early"], { DATA_DIR })])
      assert.strictEqual(made.code, 0, made.stderr)
      const keys = JSON.parse((await run(["key", "list", "--json"], { DATA_DIR })).stdout).keys
      assert.deepStrictEqual(
        keys.map(({ name }: { readonly name: string }) => name),
        ["early"]
      )
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})

describe("flags of the gateway's key", () => {
  it(
    "refuse --api-key where it is no provider's key, with the flag that is meant",
    async () => {
      for (const command of [["keys", "list"], ["status"], ["provider", "list"], ["logs", "--json"]]) {
        for (const old of [["--api-key", "x"], ["--api-key=x"]]) {
          const { code, stderr, stdout } = await run([...command, ...old], { DATA_DIR: dataDir() })
          assert.deepStrictEqual([code, stdout], [2, ""], command.join(" "))
          assert.include(stderr, "--gateway-key")
        }
      }
      const both = await run(["keys", "list", "--local", "--url", "http://127.0.0.1:9"], { DATA_DIR: dataDir() })
      assert.strictEqual(both.code, 2)
    },
    patienceMs
  )
})
