/** Whatever a client puts wherever into a request: a refusal or a translation, never a throw. */
import { assert } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import { type EncodeOptions, translateRequest, type WireCodec } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

/** `value` with the member at `path` (entries by number, round and round) replaced. */
const mutate = (value: unknown, path: ReadonlyArray<number>, replacement: unknown): unknown => {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== "object" || value === null) return replacement
  const entries = Object.entries(value)
  const [key, inner] = entries[step % Math.max(1, entries.length)] ?? ["x", null]
  const changed = mutate(inner, rest, replacement)
  return Array.isArray(value)
    ? value.map((item, index) => (String(index) === key ? changed : item))
    : { ...value, [key]: changed }
}

export interface Mutations {
  readonly source: WireCodec
  readonly requests: FC.Arbitrary<JsonObject>
  /** What is put in the place of a member, beside any JSON. */
  readonly junk: ReadonlyArray<unknown>
  readonly targets: ReadonlyArray<WireCodec>
  readonly options: EncodeOptions
  /** How deep a member may lie. */
  readonly depth: number
  readonly numRuns: number
}

export const survivesMutations = ({ depth, junk, numRuns, options, requests, source, targets }: Mutations): void => {
  const replacements = FC.oneof(FC.jsonValue(), ...junk.map((value) => FC.constant(value)))
  const paths = FC.array(FC.nat(30), { minLength: 1, maxLength: depth })
  FC.assert(
    FC.property(requests, paths, replacements, (body, path, replacement) => {
      const mutated = mutate(body, path, replacement)
      assert.oneOf(source.checkEnvelope(mutated)._tag, ["Left", "Right"])
      for (const target of targets) {
        const result = translateRequest(source, target, mutated as JsonObject, options)
        if (Either.isRight(result)) JSON.stringify(result.right.body)
        else assert.isNotEmpty(result.left.details)
      }
    }),
    { seed: 20_261_121, numRuns }
  )
}
