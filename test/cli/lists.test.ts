/** Lists on the command line that are searched, sorted and cut, of a gateway and of the data folder. */
import { assert, describe, it } from "@effect/vitest"
import { program } from "./support.ts"

const patienceMs = 120_000
const { dataDir, run, serve } = program()

describe("lists", () => {
  it(
    "take --search, --sort and --limit",
    async () => {
      const environment = { DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: "lists-admin-key-of-this-test" }
      const rows = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
        const { code, stderr, stdout } = await run([...args, "--json"], environment)
        assert.strictEqual(code, 0, stderr)
        const list = Object.values<unknown>(JSON.parse(stdout)).find((value) => Array.isArray(value)) ?? []
        return (list as ReadonlyArray<{ readonly id: string; readonly name?: string }>).map(
          ({ id, name }) => name ?? id
        )
      }
      for (const name of ["work", "Homework", "other"]) {
        const added = await run(["provider", "add", "ollama", "--name", name, "--no-verify"], environment)
        assert.strictEqual(added.code, 0, added.stderr)
      }
      // The same words without a gateway and with one.
      const connections = async (): Promise<void> => {
        assert.deepStrictEqual(await rows("provider", "list", "--search", "WORK", "--sort", "-name"), [
          "work",
          "Homework"
        ])
        assert.deepStrictEqual(await rows("provider", "list", "--sort", "name", "--limit", "2"), ["Homework", "other"])
        assert.deepStrictEqual(await rows("provider", "list", "--search", "nothing"), [])
      }
      await connections()
      const server = await serve(environment)
      await connections()
      const cut = await run(["provider", "list", "--limit", "1"], environment)
      assert.include(cut.stderr, "1 of 3 are shown.")
      const none = await run(["provider", "list", "--search", "nothing"], environment)
      assert.include(none.stdout + none.stderr, "None of them has this text.")

      for (const name of ["beta", "alpha", "beta-two"]) {
        assert.strictEqual((await run(["keys", "add", name], environment)).code, 0)
        const combo = await run(["combo", "create", `${name}-combo`, "ollama/m"], environment)
        assert.strictEqual(combo.code, 0, combo.stderr)
      }
      assert.deepStrictEqual(await rows("keys", "list", "--search", "BETA", "--sort", "name"), ["beta", "beta-two"])
      assert.deepStrictEqual(await rows("combo", "list", "--sort", "-name", "--limit", "1"), ["beta-two-combo"])
      assert.deepStrictEqual(await rows("models", "--search", "alpha-combo"), ["alpha-combo"])
      const wrong = await run(["keys", "list", "--sort", "size"], environment)
      assert.strictEqual(wrong.code, 2, wrong.stderr)
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})
