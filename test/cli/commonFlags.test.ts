/** `--port`, `--non-interactive` and `--no-open` with the built program: which gateway is asked, and that nobody is. */
import { assert, describe, it } from "@effect/vitest"
import { program } from "./support.ts"
import { inTerminal } from "./terminal.ts"
import { launch } from "./built.ts"

/** Each test starts the program several times. */
const patienceMs = 120_000

const { dataDir, run, serve } = program()
const adminKey = "admin-key-of-the-flags-test"

describe("flags that every command takes", () => {
  it(
    "--port names the gateway of this machine at that port, before the environment and a login",
    async () => {
      const DATA_DIR = dataDir()
      const serving = await serve({ DATA_DIR })
      const { port } = new URL(serving.url)
      const other = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey })
      const otherPort = new URL(other.url).port
      // The gateway of the data folder knows its owner.
      const elsewhere = { DATA_DIR, GATEWAY_URL: "http://127.0.0.1:9" }
      assert.strictEqual((await run(["key", "list", "--port", port], elsewhere)).code, 0)
      assert.strictEqual((await run(["--port", port, "--no-open", "key", "list"], elsewhere)).code, 0)
      assert.strictEqual((await run(["key", "list", "--port", port, "--local"], elsewhere)).code, 0)
      // Another one does not, and never gets the owner's token.
      const stranger = await run(["key", "list", "--port", otherPort], { DATA_DIR })
      assert.strictEqual(stranger.code, 4, stranger.stderr)
      assert.include(stranger.stderr, "asks for a key")
      const known = await run(["key", "list", `--port=${otherPort}`], { DATA_DIR, GATEWAY_ADMIN_KEY: adminKey })
      assert.strictEqual(known.code, 0, known.stderr)
      const nobody = await run(["key", "list", "--port", "9"], { DATA_DIR })
      assert.strictEqual(nobody.code, 3, nobody.stderr)
      assert.include(nobody.stderr, ":9")
      const two = await run(["key", "list", "--port", port, "--url", serving.url], { DATA_DIR })
      assert.strictEqual(two.code, 2)
      assert.include(two.stderr, "--port and --url")
      for (const bad of ["0", "x", "70000"]) {
        assert.strictEqual((await run(["key", "list", "--port", bad], { DATA_DIR })).code, 2, bad)
      }

      // What stops and restarts does so with the one that is meant only.
      assert.include((await run(["stop", "--port", "9"], { DATA_DIR })).stderr, "at port 9")
      assert.notStrictEqual((await run(["restart", "--port", "9"], { DATA_DIR })).code, 0)
      assert.strictEqual((await fetch(`${serving.url}/api/health/ping`)).status, 200)
      const stopped = await run(["stop", "--port", port, "--non-interactive"], { DATA_DIR })
      assert.strictEqual(stopped.code, 0, stopped.stderr)
      assert.include(stopped.stderr, "is stopped")
      await other.stop("SIGTERM")
    },
    patienceMs
  )

  it(
    "--non-interactive asks nothing on a terminal either",
    async () => {
      const DATA_DIR = dataDir()
      const serving = await serve({ DATA_DIR, GATEWAY_ADMIN_KEY: adminKey })
      const silent = (...words: ReadonlyArray<string>) =>
        inTerminal([...launch, ...words, "--non-interactive"], { DATA_DIR }, [])
      const connected = ["provider", "add", "openai", "--name", "work", "--api-key", "sk-0123456789abcdef"]
      const added = await run([...connected, "--no-verify"], { DATA_DIR })
      assert.strictEqual(added.code, 0, added.stderr)
      for (const words of [
        ["chat"],
        ["provider", "add", "anthropic"],
        ["provider", "edit", "work", "--ask-key"],
        ["provider", "remove", "work"],
        ["provider", "login", "codex", "--client-id", "mine"],
        ["login", serving.url],
        ["reset-password"]
      ]) {
        const { code, screen } = await silent(...words)
        assert.notStrictEqual(code, 0, `${words.join(" ")}: ${screen}`)
      }
      const removed = await silent("provider", "remove", "work", "--yes")
      assert.strictEqual(removed.code, 0, removed.screen)
      await serving.stop("SIGTERM")
    },
    patienceMs
  )
})
