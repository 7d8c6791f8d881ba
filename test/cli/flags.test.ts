/** `gateway flags` as the owner of the data folder types it: the values, who set them, and what waits for a restart. */
import { assert, describe, it } from "@effect/vitest"
import { program } from "./support.ts"

/** The program is started several times. */
const patienceMs = 120_000

const { dataDir, run, serve } = program()

describe("gateway flags", () => {
  it(
    "set, list, show and unset say the value, its source, and whether it waits for a restart",
    async () => {
      const DATA_DIR = dataDir()
      const environment = { DATA_DIR, STREAM_RECOVERY_ENABLED: "yes" }
      const flags = async (...words: ReadonlyArray<string>) => {
        const said = await run(["flags", ...words], environment)
        assert.strictEqual(said.code, 0, said.stderr)
        return said.stdout
      }
      const listed = async (key: string) => {
        const { flags: all } = JSON.parse(await flags("list", "--json"))
        return all.find((flag: { readonly key: string }) => flag.key === key)
      }
      const live = "GATEWAY_ENABLE_LIVE_WS"
      const first = await serve(environment)
      assert.deepInclude(await listed("STREAM_RECOVERY_ENABLED"), { effectiveValue: "yes", source: "env" })
      assert.deepInclude(await listed("CLI_COMPAT_ALL"), { waitsFor: null, requiresRestart: true })

      const set = JSON.parse(await flags("set", live, "false", "--json"))
      assert.deepInclude(set, { effectiveValue: "false", source: "db", previousValue: "true", pendingRestart: true })
      assert.deepInclude(await listed(live), { effectiveValue: "false", source: "db", pendingRestart: true })
      assert.match(await flags("list", "-o", "table"), /GATEWAY_ENABLE_LIVE_WS +false \(after a restart\) +this API/)
      assert.match(await flags("show", live, "-o", "table"), /until the gateway restarts/)
      await first.stop("SIGTERM")

      await serve(environment)
      assert.deepInclude(await listed(live), { effectiveValue: "false", source: "db", pendingRestart: false })
      const unset = JSON.parse(await flags("unset", live, "--json"))
      assert.deepInclude(unset, { effectiveValue: "true", source: "default", pendingRestart: true })
      const words = ["flags", "set", "stream-recovery-enabled", "0", "-o", "table"]
      assert.match((await run(words, environment)).stderr, /STREAM_RECOVERY_ENABLED is 0 now/)
      assert.deepInclude(await listed("STREAM_RECOVERY_ENABLED"), { effectiveValue: "0", source: "db" })

      const refused = await run(["flags", "set", "INJECTION_GUARD_MODE", "sometimes"], environment)
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "off, warn, block, redact")
    },
    patienceMs
  )
})
