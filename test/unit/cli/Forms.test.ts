/** What flags take, read by the command-line library as it reads them for a command. */
import * as CliConfig from "@effect/cli/CliConfig"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { flags as replayFlags } from "../../../src/subjects/routing/commands/replay.ts"
import { flags as simulateFlags } from "../../../src/subjects/routing/commands/simulate.ts"

const read = <A>(option: Options.Options<A>, ...argv: ReadonlyArray<string>) =>
  Options.processCommandLine(option, argv, CliConfig.defaultConfig).pipe(
    Effect.map(([, , value]) => value),
    Effect.provide(NodeContext.layer)
  )

/** The words of a refusal. */
const refused = <A>(option: Options.Options<A>, ...argv: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(read(option, ...argv)), ({ error }: { readonly error: HelpDoc.HelpDoc }) =>
    HelpDoc.toAnsiText(error)
  )

describe("flags of simulate", () => {
  it.effect("give values by target, whose names may hold the sign", () =>
    Effect.gen(function* () {
      const { errors, latency, quota } = simulateFlags
      assert.deepStrictEqual(yield* read(errors, "--errors", "a=b=0.5", "--errors", "*=1"), { "a=b": 0.5, "*": 1 })
      assert.deepStrictEqual(yield* read(latency, "--latency", "one=300, 900"), { one: [300, 900] })
      assert.deepStrictEqual(yield* read(quota, "--quota", "one=100/1.5"), {
        one: { requests: 100, windowMs: 1_500 }
      })
      assert.deepStrictEqual(yield* read(errors), {})
    })
  )

  it.effect("name the flag, the first wrong text and its form", () =>
    Effect.gen(function* () {
      const { errors, latency, quota } = simulateFlags
      for (const wrong of ["=1", "a", "a=", "a=x", "a=1,2", "a=NaN", "a=Infinity"]) {
        const words = yield* refused(errors, "--errors", "fine=1", "--errors", wrong)
        assert.include(words, `--errors: '${wrong}' is not of the form name=0.05.`)
      }
      assert.include(yield* refused(latency, "--latency", "a=1"), "'a=1' is not of the form name=300,900.")
      assert.include(yield* refused(latency, "--latency", "a=1,2,3"), "name=300,900")
      assert.include(yield* refused(quota, "--quota", "a=1/"), "'a=1/' is not of the form name=100/60.")
    })
  )

  it.effect("take two numbers, and a known scenario", () =>
    Effect.gen(function* () {
      const { scenario, tokens } = simulateFlags
      assert.deepStrictEqual(yield* read(tokens), [1_000, 300])
      assert.deepStrictEqual(yield* read(tokens, "--tokens", "5,6"), [5, 6])
      assert.include(yield* refused(tokens, "--tokens", "5"), "--tokens: '5' is not of the form 1000,300.")
      assert.include(yield* refused(scenario, "--scenario", "doomsday"), "all-exhausted")
    })
  )

  it.effect("say what is wrong with a fault", () =>
    Effect.gen(function* () {
      const { fault } = simulateFlags
      assert.deepStrictEqual(yield* read(fault, "--fault", "one=402", "--fault", "one=429:0.5"), {
        one: [{ fault: "402" }, { fault: "429", rate: 0.5 }]
      })
      assert.include(yield* refused(fault, "--fault", "one=doomsday"), "'doomsday' is no fault; it is one of ")
      assert.include(yield* refused(fault, "--fault", "one=402:7"), "--fault: 'one=402:7'")
      assert.include(yield* refused(fault, "--fault", "one"), "name=kind:0.3")
    })
  )
})

describe("the time of replay", () => {
  it.effect("is read with its unit, within its limits", () =>
    Effect.gen(function* () {
      const { since } = replayFlags
      for (const [text, ms] of [
        ["90s", 90_000],
        ["30m", 1_800_000],
        ["24h", 86_400_000],
        ["7d", 604_800_000],
        ["2w", 1_209_600_000]
      ] as const) {
        assert.strictEqual(yield* read(since, "--since", text), ms)
      }
      assert.strictEqual(yield* read(since), 86_400_000)
      for (const wrong of ["24", "h", "1.5h", "1y", "0h", "367d", "999999999d"]) {
        assert.include(yield* refused(since, "--since", wrong), `--since: '${wrong}'`)
      }
    })
  )
})
