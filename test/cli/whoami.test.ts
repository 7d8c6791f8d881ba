/** `gateway whoami` with the credentials that a command can have. */
import { assert, it } from "@effect/vitest"
import { program } from "./support.ts"

const { dataDir, run, serve } = program()

it("says who the command is to the gateway", { timeout: 120_000 }, async () => {
  const DATA_DIR = dataDir()
  const server = await serve({ DATA_DIR })
  const owner = await run(["whoami"], { DATA_DIR })
  assert.strictEqual(owner.code, 0, owner.stderr)
  assert.match(owner.stdout, /You are\s+the owner of the gateway's data folder/)
  const added = await run(["key", "add", "laptop", "--model", "openai/*"], { DATA_DIR })
  const key = added.stdout.trim()
  const asked = await run(["whoami", "--gateway-key", key, "--json"], { DATA_DIR })
  assert.strictEqual(asked.code, 0, asked.stderr)
  const me = JSON.parse(asked.stdout)
  assert.deepStrictEqual(
    [me.principal.type, me.principal.name, me.role, me.limits.allowedModels],
    ["apiKey", "laptop", "member", ["openai/*"]]
  )
  assert.notInclude(asked.stdout, key)
  const page = await run(["whoami", "--gateway-key", key], { DATA_DIR })
  assert.match(page.stdout, /an API key: laptop/)
  assert.match(page.stdout, /Models\s+openai\/\*/)
  const wrong = await run(["whoami", "--gateway-key", "wrong"], { DATA_DIR })
  assert.strictEqual(wrong.code, 4)
  await server.stop("SIGTERM")
})
