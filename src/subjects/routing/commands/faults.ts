/** Notation of faults on the command line: `one=503:0.3@10+5/20`. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { SimulatedFault } from "../routes.ts"
import { FaultName, ScenarioName } from "../../../contract/domain/SimulatedFaults.ts"
import { each, notOf } from "../../../cli/flags/Forms.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

const shape = "name=kind, name=kind:0.3 (part of the calls) or name=kind@10+5/20 (from second 10, for 5, every 20)"

/** Names may hold the sign, kinds and numbers never do. */
const pattern = /^(.+)=([^=:@]+)(?::([\d.]+))?(?:@([\d.]+)(?:\+([\d.]+)(?:\/([\d.]+))?)?)?$/

const msOf = (seconds: string): number => Math.round(Number(seconds) * 1_000)

/** The parts of a written fault, by the names that the contract has for them. */
const partsOf = (text: string): readonly [name: string, fault: Readonly<Record<string, unknown>>] | null => {
  const [, name, fault, rate, from, length, every] = pattern.exec(text) ?? []
  if (name === undefined || fault === undefined) return null
  return [
    name,
    {
      fault,
      ...(rate === undefined ? {} : { rate: Number(rate) }),
      ...(from === undefined ? {} : { fromMs: msOf(from) }),
      ...(length === undefined ? {} : { forMs: msOf(length) }),
      ...(every === undefined ? {} : { everyMs: msOf(every) })
    }
  ]
}

const Plan = Schema.Tuple(Schema.String, SimulatedFault)
const decodePlan = ParseResult.decodeUnknownEither(Plan)

const WrittenFault: Schema.Schema<typeof Plan.Type, string> = Schema.transformOrFail(
  Schema.String,
  Schema.typeSchema(Plan),
  {
    strict: true,
    decode: (text) => decodePlan(partsOf(text)),
    encode: (plan, _, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, plan, "A fault is read only."))
  }
)

const problemOf = (text: string): string => {
  const parts = partsOf(text)
  if (parts === null) return notOf("--fault", shape)(text)
  const kind = String(parts[1]["fault"])
  if (!Schema.is(FaultName)(kind)) {
    return `--fault: '${kind}' is no fault; it is one of ${FaultName.literals.join(", ")}.`
  }
  const [issue] = Either.match(decodePlan(parts), {
    onLeft: ParseResult.ArrayFormatter.formatIssueSync,
    onRight: () => []
  })
  return `--fault: '${text}': ${asSentence(issue?.message ?? "is not valid")}`
}

/** Faults by the name of their target; several of one target are kept in their order. */
export const Faults = each(WrittenFault, problemOf)

export const byTarget = (
  plans: ReadonlyArray<typeof Plan.Type>
): Readonly<Record<string, ReadonlyArray<typeof SimulatedFault.Type>>> => {
  const byName = new Map<string, ReadonlyArray<typeof SimulatedFault.Type>>()
  for (const [name, plan] of plans) byName.set(name, [...(byName.get(name) ?? []), plan])
  return Object.fromEntries(byName)
}

/** The name of a scenario among other texts. */
export const Scenario: Schema.Schema<ScenarioName, string> = Schema.compose(Schema.String, ScenarioName, {
  strict: false
})

export const noScenario = (name: string): string =>
  `--scenario: '${name}' is no scenario; it is one of ${ScenarioName.literals.join(", ")}.`
