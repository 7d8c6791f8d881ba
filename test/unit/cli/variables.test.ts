/** Variables that are set to nothing are not set; names that are nearly right are named. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { knownNames, strangeNames } from "../../../src/cli/flags/variables.ts"
import { environmentProblems } from "../../../src/subjects/flags/service.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { setOnly } from "../../../src/platform/EnvValue.ts"

const known = Effect.runSync(Effect.cached(knownNames))

const configOf = (values: ReadonlyArray<readonly [string, string]>) =>
  Effect.map(Effect.withConfigProvider(AppConfig.make, ConfigProvider.fromMap(new Map(values))), (config) =>
    JSON.stringify({ ...config, environment: null })
  )

describe("a variable that is set to nothing", () => {
  it.effect("is as one that is not set, each of those that are known", () =>
    Effect.gen(function* () {
      const usual = yield* configOf([])
      const names = [...(yield* known)]
      assert.isAbove(names.length, 100)
      for (const blank of ["", " ", "\t \n"]) {
        for (const name of names) {
          assert.strictEqual(yield* configOf([[name, blank]]), usual, name)
          const environment = setOnly({ [name]: blank })
          assert.strictEqual(environment.size, 0, name)
          assert.deepStrictEqual(environmentProblems(environment), [], name)
        }
        assert.strictEqual(yield* configOf(names.map((name) => [name, blank] as const)), usual)
      }
    })
  )
})

describe("a name that the gateway does not read", () => {
  const about = (...names: ReadonlyArray<string>) =>
    Effect.map(known, (all) =>
      strangeNames(names, all).map((sentence) => /Did you mean (\w+)/.exec(sentence)?.[1] ?? null)
    )

  it.effect.each([
    ["GATEWAY_ADMIN_KEYS", "GATEWAY_ADMIN_KEY"],
    ["GATEWAY_ADMINKEY", "GATEWAY_ADMIN_KEY"],
    ["gateway_admin_key", "GATEWAY_ADMIN_KEY"],
    ["REQUIRE_APIKEY", "REQUIRE_API_KEY"],
    ["REQUIRE_API_KEYS", "REQUIRE_API_KEY"],
    ["require_api_key", "REQUIRE_API_KEY"],
    ["REQUIER_API_KEY", "REQUIRE_API_KEY"],
    ["GATWAY_ADMIN_KEY", "GATEWAY_ADMIN_KEY"],
    ["OPENAI_APIKEY", "OPENAI_API_KEY"]
  ])("%s is told with %s", ([name, meant]) =>
    Effect.map(about(name ?? ""), (found) => assert.deepStrictEqual(found, [meant ?? null]))
  )

  it.effect("is told without a suggestion when it begins with GATEWAY_", () =>
    Effect.map(about("GATEWAY_SOMETHING_ENTIRELY_DIFFERENT"), (found) => assert.deepStrictEqual(found, [null]))
  )

  it.effect("is left alone when it is another program's", () =>
    Effect.map(
      about(
        "PATH",
        "HOME",
        "HOSTNAME",
        "LANG",
        "SHELL",
        "OPENAI_API_KEY_2",
        "GATEWAY_OAUTH_CODEX_CLIENT_ID",
        "LOGNAME",
        "XDG_CONFIG_HOME",
        "DATABASE_URL",
        "npm_config_cache"
      ),
      (found) => assert.deepStrictEqual(found, [])
    )
  )
})
