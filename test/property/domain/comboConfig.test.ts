import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { modeNames } from "../../../src/subjects/combos/entity/AutoWeights.ts"
import { configProblems, decodeStored, noPolicy } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { anyFields, simpleFields } from "../../../src/subjects/combos/entity/ConfigFields.ts"
import { ComboConfig } from "../../../src/subjects/combos/entity/ConfigSchema.ts"
import { builtInNames } from "../../../src/plane/routing/auto/RouterStrategies.ts"

const run = { seed: 20_261_122, numRuns: 400 }

/** Names that are few among all texts. */
const named: Readonly<Record<string, FC.Arbitrary<unknown>>> = {
  modePack: FC.constantFrom(...modeNames),
  routerStrategy: FC.constantFrom(...builtInNames)
}

const valueOf = ([key, field]: readonly [string, Schema.Schema.AnyNoContext]) =>
  [key, FC.oneof({ weight: 9, arbitrary: named[key] ?? Arbitrary.make(field) }, FC.constant(null))] as const

const objectOf = (fields: Readonly<Record<string, Schema.Schema.AnyNoContext>>) =>
  FC.record(Object.fromEntries(Object.entries(fields).map(valueOf)), { requiredKeys: [] })

const { nested, plain } = anyFields

const valid: FC.Arbitrary<Readonly<Record<string, unknown>>> = FC.tuple(
  objectOf(plain),
  FC.record(Object.fromEntries(Object.entries(nested).map(([key, fields]) => [key, objectOf(fields)])), {
    requiredKeys: []
  }),
  FC.record({ myNote: FC.jsonValue() }, { requiredKeys: [] })
).map(([one, two, three]) => Object.assign({}, one, two, three))

/** Any JSON under known keys. */
const strange: FC.Arbitrary<Readonly<Record<string, unknown>>> = FC.dictionary(
  FC.constantFrom(...Object.keys(plain), ...Object.keys(nested)),
  FC.oneof(
    FC.jsonValue(),
    FC.integer(),
    FC.dictionary(FC.constantFrom("weights", "minPanel", "targetP95Ms"), FC.jsonValue())
  )
)

const decode = Schema.decodeUnknownEither(ComboConfig)
const encode = Schema.encodeSync(ComboConfig)

/** Those are put into another form. */
const reshaped = new Set(["handoffModel", "handoffProviders", "lkgpEnabled", "resetWindowWindows"])

describe("a combo's config", () => {
  it("that is valid may be saved, is stored as it was sent, and is read whole", () =>
    FC.assert(
      FC.property(valid, (config) => {
        assert.deepStrictEqual(configProblems(config, builtInNames), [])
        assert.deepStrictEqual<unknown>(encode(Either.getOrThrow(decode(config))), config)
        const policy: Readonly<Record<string, unknown>> = { ...decodeStored(config) }
        const blank: Readonly<Record<string, unknown>> = { ...noPolicy }
        for (const key of Object.keys(simpleFields)) {
          if (!reshaped.has(key)) assert.deepStrictEqual(policy[key], config[key] ?? blank[key], key)
        }
      }),
      run
    ))

  it("is refused at save where the published schema refuses it, and nowhere else", () =>
    FC.assert(
      FC.property(strange, ({ routerStrategy: _anyName, ...config }) => {
        const problems = configProblems(config, builtInNames).filter(
          ({ field, message }) => !message.startsWith("is not known") && field !== "config.auto.routerStrategy"
        )
        assert.strictEqual(problems.length === 0, Either.isRight(decode(config)), JSON.stringify(config))
      }),
      run
    ))

  it("is read whatever is stored", () =>
    FC.assert(
      FC.property(FC.oneof(strange, FC.jsonValue()), (stored) => {
        assert.sameMembers(Object.keys(decodeStored(stored)), Object.keys(noPolicy))
      }),
      run
    ))
})
