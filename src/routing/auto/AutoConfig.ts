/** What a combo's `config` says to the auto strategy, and what the headers of one request may change of it. Pure. */
import type { SlaPolicy } from "./RouterStrategies.ts"
import { packOfMode, packs, readWeights, modeNames, type PackName, type Problem, type Weights } from "./Weights.ts"

/** Null where the config says nothing. */
export interface AutoConfig {
  readonly routerStrategy: string | null
  /** Provider names. */
  readonly candidatePool: ReadonlyArray<string> | null
  /** The operator's own set, in place of every pack. */
  readonly weights: Weights | null
  readonly pack: PackName | null
  readonly budgetUsd: number | null
  readonly explorationRate: number | null
  readonly sla: SlaPolicy
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const isPositive = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value > 0

/**
 * Reads a config. Problems are for whoever saves a combo; at run time a field with a problem counts as not given. `auto.x` is the older
 * place of `x`, for all but the weights, whose place it is.
 */
export const readAutoConfig = (
  config: Fields
): { readonly config: AutoConfig; readonly problems: ReadonlyArray<Problem> } => {
  const auto = fieldsOf(config["auto"])
  const sla = fieldsOf(config["sla"])
  const problems: Array<Problem> = []
  const wrong = (field: string, message: string): null => {
    problems.push({ field, message })
    return null
  }
  if (config["auto"] !== undefined && config["auto"] !== null && fieldsOf(config["auto"]) !== config["auto"]) {
    wrong("auto", "must be an object")
  }
  const place = (name: string): { readonly field: string; readonly value: unknown } =>
    config[name] === undefined && auto[name] !== undefined
      ? { field: `auto.${name}`, value: auto[name] }
      : { field: name, value: config[name] }
  const read = <A>(name: string, parse: (value: unknown) => A | null, message: string): A | null => {
    const { field, value } = place(name)
    if (value === undefined || value === null) return null
    return parse(value) ?? wrong(field, message)
  }
  const positive = (value: unknown): number | null => (isPositive(value) ? value : null)
  const fraction = (value: unknown): number | null =>
    typeof value === "number" && value >= 0 && value <= 1 ? value : null
  const word = (value: unknown): string | null =>
    typeof value === "string" && value.trim() !== "" ? value.trim() : null
  const slaField = <A>(flat: string, nested: string, parse: (value: unknown) => A | null, message: string): A | null =>
    read(flat, parse, message) ??
    (sla[nested] === undefined || sla[nested] === null ? null : (parse(sla[nested]) ?? wrong(`sla.${nested}`, message)))

  const written = auto["weights"] === undefined ? config["weights"] : auto["weights"]
  const weights =
    written === undefined || written === null
      ? null
      : readWeights(written, auto["weights"] === undefined ? "weights" : "auto.weights")
  if (weights !== null) problems.push(...weights.problems)
  const aPositive = "must be a positive number"
  return {
    config: {
      routerStrategy: read("routerStrategy", word, "must be the name of a router strategy"),
      candidatePool: read("candidatePool", namesOf, "must be a list of provider names, at least one"),
      weights: weights?.weights ?? null,
      pack: read(
        "modePack",
        (value) => (typeof value === "string" ? packOfMode(value) : null),
        `must be one of ${modeNames.join(", ")}`
      ),
      budgetUsd: read("budgetCap", positive, aPositive),
      explorationRate: read("explorationRate", fraction, "must be a number from 0 to 1"),
      sla: {
        targetP95Ms: slaField("slaTargetP95Ms", "targetP95Ms", positive, aPositive),
        maxErrorRate: slaField("slaMaxErrorRate", "maxErrorRate", fraction, "must be a number from 0 to 1"),
        maxCostPer1MTokens: slaField(
          "slaMaxCostPer1MTokens",
          "maxCostPer1MTokens",
          (value) => (value === 0 ? 0 : positive(value)),
          "must be a number, not negative"
        ),
        hardConstraints:
          slaField(
            "slaHardConstraints",
            "hardConstraints",
            (value) => (typeof value === "boolean" ? value : null),
            "must be true or false"
          ) ?? false
      }
    },
    problems
  }
}

const namesOf = (value: unknown): ReadonlyArray<string> | null => {
  if (!Array.isArray(value)) return null
  const names = value.filter((name): name is string => typeof name === "string" && name.trim() !== "")
  return names.length === 0 || names.length < value.length ? null : names
}

/** `X-Gateway-Budget` in USD; null when absent or no positive number, which is ignored. */
export const budgetOfHeader = (header: string | null): number | null => {
  const text = header?.trim() ?? ""
  if (text.length > 256 || !/^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return null
  const usd = Number(text)
  return isPositive(usd) ? usd : null
}

/** The weights of one request: its header wins over the combo's own set, that over the combo's pack, that over the id's. */
export const weightsOf = (
  specPack: PackName,
  config: Pick<AutoConfig, "pack" | "weights">,
  modeHeader: string | null
): Weights => {
  const mode = modeHeader === null ? null : packOfMode(modeHeader)
  return mode === null ? (config.weights ?? packs[config.pack ?? specPack]) : packs[mode]
}
