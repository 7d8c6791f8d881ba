/**
 * Facts of a model beside its id, and their merging from several sources. Null always means "not known": an unknown model
 * must not be taken for capable of anything. Pure.
 */

export type Modality = "text" | "image" | "audio" | "video" | "file" | "embedding"

export interface ModelFacts {
  /** A name for people. */
  readonly name: string | null
  /** Tokens the model can take in. */
  readonly contextLength: number | null
  /** Tokens the model can answer with. */
  readonly maxOutputTokens: number | null
  readonly inputModalities: ReadonlyArray<Modality> | null
  readonly outputModalities: ReadonlyArray<Modality> | null
  /** Takes pictures. */
  readonly vision: boolean | null
  readonly reasoning: boolean | null
  readonly toolCalling: boolean | null
  readonly structuredOutput: boolean | null
  /** True when it is also offered under the no-thinking alias: it thinks, and that can be turned off. */
  readonly noThinkingAlias: boolean | null
}

export const unknownFacts: ModelFacts = {
  name: null,
  contextLength: null,
  maxOutputTokens: null,
  inputModalities: null,
  outputModalities: null,
  vision: null,
  reasoning: null,
  toolCalling: null,
  structuredOutput: null,
  noThinkingAlias: null
}

/**
 * Merges the facts of `over` with those that only `under` has. Vision and the modalities go together: the source that
 * has one of them decides both.
 */
export const layFacts = (over: ModelFacts, under: ModelFacts): ModelFacts => {
  const sight = over.vision !== null || over.inputModalities !== null
  return {
    name: over.name ?? under.name,
    contextLength: over.contextLength ?? under.contextLength,
    maxOutputTokens: over.maxOutputTokens ?? under.maxOutputTokens,
    inputModalities: over.inputModalities ?? seeing(under.inputModalities, over.vision),
    outputModalities: over.outputModalities ?? under.outputModalities,
    vision: sight ? (over.vision ?? includesImage(over.inputModalities)) : under.vision,
    reasoning: over.reasoning ?? under.reasoning,
    toolCalling: over.toolCalling ?? under.toolCalling,
    structuredOutput: over.structuredOutput ?? under.structuredOutput,
    noThinkingAlias: over.noThinkingAlias ?? under.noThinkingAlias
  }
}

const includesImage = (modalities: ReadonlyArray<Modality> | null): boolean | null =>
  modalities === null ? null : modalities.includes("image")

/** Modalities that agree with what is known of seeing. */
const seeing = (modalities: ReadonlyArray<Modality> | null, vision: boolean | null): ReadonlyArray<Modality> | null => {
  if (vision === null || (modalities !== null && modalities.includes("image") === vision)) return modalities
  if (vision) return [...(modalities ?? ["text"]), "image"]
  return modalities === null ? null : modalities.filter((modality) => modality !== "image")
}

/** Facts whose vision and input modalities agree, each filled from the other. A declared `vision` wins over a list. */
export const settleFacts = (facts: ModelFacts): ModelFacts => {
  const vision = facts.vision ?? includesImage(facts.inputModalities)
  return { ...facts, vision, inputModalities: seeing(facts.inputModalities, vision) }
}

const least = (values: ReadonlyArray<number | null>): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

const greatest = (values: ReadonlyArray<number | null>): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** Yes when all say yes, no when one says no, else unknown. */
const everyone = (values: ReadonlyArray<boolean | null>): boolean | null => {
  if (values.includes(false)) return false
  return values.length === 0 || values.includes(null) ? null : true
}

const shared = (lists: ReadonlyArray<ReadonlyArray<Modality> | null>): ReadonlyArray<Modality> | null => {
  const [first = null, ...others] = lists
  if (first === null) return null
  return others.includes(null) ? null : first.filter((modality) => others.every((list) => list?.includes(modality)))
}

/**
 * Computes the facts that hold for any of several models: the capabilities that all have, and the least of their
 * limits. For `auto` the greatest limits are listed (`/api/combos/auto`).
 */
export const commonFacts = (members: ReadonlyArray<ModelFacts>, limits: "least" | "greatest" = "least"): ModelFacts => {
  const limit = limits === "least" ? least : greatest
  return {
    name: null,
    contextLength: limit(members.map((member) => member.contextLength)),
    maxOutputTokens: limit(members.map((member) => member.maxOutputTokens)),
    inputModalities: shared(members.map((member) => member.inputModalities)),
    outputModalities: shared(members.map((member) => member.outputModalities)),
    vision: everyone(members.map((member) => member.vision)),
    reasoning: everyone(members.map((member) => member.reasoning)),
    toolCalling: everyone(members.map((member) => member.toolCalling)),
    structuredOutput: everyone(members.map((member) => member.structuredOutput)),
    noThinkingAlias: null
  }
}
