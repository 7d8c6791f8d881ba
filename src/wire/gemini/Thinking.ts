/**
 * `thinkingConfig`, both ways.
 *
 * https://ai.google.dev/gemini-api/docs/thinking
 */
import type { Conversation, ReasoningAsk } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { budgetOfEffort, effortOfBudget } from "../canonical/ReasoningBudget.ts"
import type { FieldReader } from "../json/FieldReader.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"
import { camel } from "./Casing.ts"
import { type ThinkingRule, thinkingRule } from "./Models.ts"

/** The budget that lets the model decide. */
const dynamicBudget = -1
const unsaidLevel = "THINKING_LEVEL_UNSPECIFIED"

/** `generationConfig` has its members in camelCase. */
export const decodeThinking = (generation: JsonObject, read: FieldReader): ReasoningAsk | null => {
  const source = read.object(generation, "thinkingConfig", "generationConfig")
  if (source === undefined) return null
  const config = camel(source)
  const path = "generationConfig.thinkingConfig"
  const budget = read.number(config, "thinkingBudget", path)
  const level = read.string(config, "thinkingLevel", path)?.toUpperCase()
  const shown = read.boolean(config, "includeThoughts", path)
  const summary = shown === undefined ? {} : { summary: shown ? "summarized" : "omitted" }
  const effort = level === undefined || level === unsaidLevel ? undefined : level.toLowerCase()
  if (budget === 0) return { mode: "off", ...summary }
  if (budget !== undefined && budget > 0) {
    return { mode: "budget", budgetTokens: budget, ...optional("effort", effort), ...summary }
  }
  if (effort !== undefined) return { mode: "effort", effort, ...summary }
  // Thoughts are requested, or the budget is left to the model. Not showing them is the default.
  return budget === dynamicBudget || shown === true ? { mode: "adaptive", ...summary } : null
}

/** Chooses a thinking level; not every model has `minimal` and `medium`. */
const levelOf = (ask: ReasoningAsk, hasMedium: boolean): string => {
  const effort = ask.effort ?? (ask.budgetTokens === undefined ? "medium" : effortOfBudget(ask.budgetTokens))
  if (effort === "minimal" || effort === "low") return "low"
  return effort === "medium" && hasMedium ? "medium" : "high"
}

const budgetOf = (ask: ReasoningAsk, rule: ThinkingRule): number => {
  const wanted = ask.budgetTokens ?? budgetOfEffort(ask.effort ?? "medium")
  return rule.kind === "budget" ? Math.min(Math.max(wanted, rule.minBudget), rule.maxBudget) : wanted
}

/** The largest share of the output limit for thinking. */
const maxShare = 0.8

const turnedOff = (rule: ThinkingRule, log: DropLog): JsonObject => {
  // An unknown model may have no thinking, and refuse to have it turned off.
  if (rule.kind === "unknown") return {}
  if (rule.kind === "level") {
    log.map("reasoning")
    return { thinkingConfig: { thinkingLevel: "LOW" } }
  }
  if (rule.offBudget > 0) log.map("reasoning")
  return { thinkingConfig: { thinkingBudget: rule.offBudget } }
}

/** The client's own settings as far as they are known. */
const restored = (ask: ReasoningAsk): JsonObject => {
  const shown = ask.summary === undefined ? {} : { includeThoughts: ask.summary !== "omitted" }
  const budget = ask.mode === "off" ? 0 : ask.mode === "adaptive" ? dynamicBudget : ask.budgetTokens
  return {
    thinkingConfig: {
      ...optional("thinkingBudget", budget),
      ...optional("thinkingLevel", ask.effort?.toUpperCase()),
      ...shown
    }
  }
}

/** Thoughts count towards the output limit: a part of it is left for the answer, as far as the model's minimum budget allows. */
const below = (budget: number, limit: number | null, rule: ThinkingRule): number =>
  limit === null || budget < limit
    ? budget
    : Math.max(Math.floor(limit * maxShare), rule.kind === "budget" ? rule.minBudget : 1)

export const encodeThinking = (
  { maxOutputTokens, reasoning: ask, wire }: Pick<Conversation, "maxOutputTokens" | "reasoning" | "wire">,
  options: EncodeOptions,
  log: DropLog
): JsonObject => {
  if (ask === null) return {}
  if (wire === "gemini") return restored(ask)
  const rule = thinkingRule(options.model)
  if (ask.mode === "off") return options.reasoning === false ? {} : turnedOff(rule, log)
  const thinks = options.reasoning ?? rule.kind !== "unknown"
  if (options.reasoning === false || (ask.mode === "adaptive" && !thinks)) {
    log.drop("reasoning")
    return {}
  }
  // A request for reasoning implies that it is shown.
  const shown = { includeThoughts: ask.summary !== "omitted" }
  if (rule.kind === "level") {
    if (ask.mode === "adaptive" && ask.effort === undefined) return { thinkingConfig: shown }
    const level = levelOf(ask, rule.hasMedium)
    if (level !== ask.effort) log.map("reasoning")
    return { thinkingConfig: { thinkingLevel: level.toUpperCase(), ...shown } }
  }
  if (ask.mode === "adaptive") return { thinkingConfig: { thinkingBudget: dynamicBudget, ...shown } }
  const budget = below(budgetOf(ask, rule), maxOutputTokens, rule)
  if (budget !== ask.budgetTokens) log.map("reasoning")
  return { thinkingConfig: { thinkingBudget: budget, ...shown } }
}
