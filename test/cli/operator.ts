/** The program as an operator runs it, with the admin key, against the gateway of `TestApp`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { adminKey, TestApp } from "../http/management/TestApp.ts"
import { typed } from "../unit/cli/inProcess.ts"
import type { program } from "./support.ts"

export const operator = ({ dataDir, run }: Pick<ReturnType<typeof program>, "dataDir" | "run">) => {
  const gateway = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { url } = yield* TestApp
    const environment = { DATA_DIR: dataDir(), GATEWAY_URL: url, GATEWAY_ADMIN_KEY: adminKey }
    return yield* Effect.promise(() => run(args, environment))
  })
  /** What a command that succeeds prints with `--json`; in the process of the test, since the others show how the program starts. */
  const json = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { url } = yield* TestApp
    const { code, stderr, stdout } = yield* typed([...args, "--json", "--url", url, "--gateway-key", adminKey])
    assert.strictEqual(code, 0, stderr)
    return JSON.parse(stdout)
  })
  return { gateway, json }
}
