/** Decides who makes the web search that a client asks its provider for (`features/websearch`). Pure. */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"

/** Facts that decide whether a target searches itself. */
export interface SearchFacts {
  /** A tool of the client's own is offered beside it. */
  readonly hasFunctions: boolean
  /** The client leaves no choice but to search. */
  readonly isForced: boolean
  /** True when the client has part of the answer: a target that continues it leaves searches to the gateway. */
  readonly goesOn: boolean
  /** The gateway searches where a target cannot. */
  readonly isRun: boolean
  /** A target that was taken to search by its model's name has refused to. */
  readonly hasRefused: (target: Target) => boolean
}

/** Plan of the search of one request (`W`) at any of its targets. */
export interface SearchPlan<W> extends SearchFacts {
  /** Request to a target that leaves searches to the gateway; the client's own where the gateway does not search. */
  readonly left: (work: W, target: Target) => W
  /** Called for each target that is asked to search itself. `isGuess`: chosen by its model's name alone. */
  readonly passed: (target: Target, isGuess: boolean) => void
}

/** Models that their makers' servers search for, by their names. */
const families: Readonly<Record<Exclude<WireName, "ollama">, RegExp>> = {
  chat: /(?:^|\/)(?:gpt-[^/]*search-(?:preview|api)|sonar(?:-|$))/,
  messages: /claude-(?!2|instant|3-(?:opus|sonnet|haiku))/,
  responses: /(?:^|\/)(?!.*(?:search-|nano|audio|realtime|image))(?:gpt-(?:4o|4\.1|[5-9])|o[34]|chatgpt-)/,
  gemini: /gemini-(?!.*(?:embedding|tts|image|live|audio))(?:[2-9]|flash|pro)/
}

const isDocumented = ({ webSearch }: Dialect, wire: WireName, model: string): boolean =>
  webSearch?.some((own) => own.wire === wire && own.models.test(model)) === true

/** Guesses by a model's name, where nothing is documented and the gateway cannot search. */
const isGuessed = (plan: SearchFacts, target: Target, wire: WireName): boolean =>
  wire !== "ollama" &&
  !plan.isRun &&
  target.account.spec.dialect.webSearch === null &&
  families[wire].test(target.model) &&
  !plan.hasRefused(target)

/** Checks whether a target can be asked to search in this wire. Gemini's cannot be forced to, and cannot beside functions. */
export const hasOwnSearch = (plan: SearchFacts, target: Target, wire: WireName): boolean =>
  !(wire === "gemini" && (plan.hasFunctions || plan.isForced)) &&
  (isDocumented(target.account.spec.dialect, wire, target.model) || isGuessed(plan, target, wire))

/** The wire in which a target searches itself, the client's own before others; null: it does not. */
export const searchWire = (
  plan: SearchFacts,
  target: Target,
  offered: ReadonlyArray<WireName>,
  own: WireName
): WireName | null => {
  if (plan.goesOn) return null
  if (offered.includes(own) && hasOwnSearch(plan, target, own)) return own
  return offered.find((wire) => hasOwnSearch(plan, target, wire)) ?? null
}

/** Models that other makers offer in the wires of Anthropic and Google, for tools of theirs: their endpoints do not search. */
const otherMakers =
  /(?:^|[/:_-])(?:deepseek|glm|kimi|moonshot|qwen|qwq|minimax|llama|mistral|ministral|mixtral|devstral|gemma|mimo|gpt-oss|longcat|ernie|doubao|hunyuan)/i

const isOfOtherMaker = (wire: WireName, model: string): boolean =>
  (wire === "messages" || wire === "gemini") && otherMakers.test(model)

/**
 * Decides whether a target that is asked in this wire searches itself. In the client's own wire what is not known is left to the target, but for the chat wire,
 * whose servers seldom do, and for models that are known to be of another maker, where the gateway can search.
 */
export const searchesItself = (plan: SearchFacts, target: Target, wire: WireName, own: WireName): boolean => {
  if (plan.goesOn) return false
  if (hasOwnSearch(plan, target, wire)) return true
  return wire === own && wire !== "chat" && !(plan.isRun && isOfOtherMaker(wire, target.model))
}
