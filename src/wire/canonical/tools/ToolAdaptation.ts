/**
 * Adapts the tools of a conversation to a target: names and call ids within its limits, free-form tools as JSON tools. In the answer
 * names and changed ids are restored to the client's own (`ToolRestoration.ts`).
 */
import type { Conversation, Message, Part, Tool, ToolChoice } from "../Conversation.ts"
import type { Dialect } from "../../../contract/domain/Dialect.ts"
import { aliasesOf, nineLettersOrDigits, type WordLimit } from "../Aliases.ts"
import { asFunctionTool, wrapInput } from "./FreeForm.ts"

/** Limits of the tools that a wire's upstreams accept. */
export interface ToolLimits {
  /** Null: any name. */
  readonly name: WordLimit | null
  /** Null: any id. */
  readonly callId: WordLimit | null
  /** Ids of the wire's own clients are adapted too: they may have come from an upstream of another wire. */
  readonly mendsOwnIds: boolean
  /** Free-form tools: supported by the wire's upstreams (`known`), by `some` of them, or by `none`. */
  readonly freeForm: "known" | "some" | "none"
  /** A history with a call that has no result is refused. */
  readonly wantsResults: boolean
}

/** A tool as the client declared it. */
export interface ClientTool {
  readonly name: string
  /** Free-form for the client, a JSON tool for the upstream. */
  readonly custom: boolean
}

/** The client's tools by the names the upstream got; only those that differ. */
export type ToolNames = ReadonlyMap<string, ClientTool>

/** The client's own ids of calls by those the upstream got; only those that differ. */
export type CallIds = ReadonlyMap<string, string>

export interface AdaptedTools {
  readonly conversation: Conversation
  /** Null when nothing differs. */
  readonly toolNames: ToolNames | null
  /** Null when nothing differs. */
  readonly callIds: CallIds | null
  /** Adapted fields, by the client's names. */
  readonly mapped: ReadonlyArray<string>
}

const nothing: ReadonlyMap<string, string> = new Map()

const partsOf = ({ messages }: Conversation): ReadonlyArray<Part> => messages.flatMap(({ parts }) => parts)

const chosenNames = (choice: ToolChoice | null): ReadonlyArray<string> =>
  choice?.type === "tool" ? [choice.name] : choice?.type === "allowed" ? choice.names : []

const namesOf = (conversation: Conversation, parts: ReadonlyArray<Part>): ReadonlyArray<string> => [
  ...conversation.tools.flatMap((tool) => (tool.type === "builtin" ? [] : tool.name)),
  ...chosenNames(conversation.toolChoice),
  ...parts.flatMap((part) => (part.type === "tool_call" ? part.name : []))
]

const idsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<string> =>
  parts.flatMap((part) => (part.type === "tool_call" ? part.id : part.type === "tool_result" ? part.callId : []))

/** Functions that write names and ids for the target. */
interface Wording {
  readonly name: (name: string) => string
  readonly id: (id: string) => string
  /** Free-form tools become JSON tools. */
  readonly wraps: boolean
}

const adaptTool = (tool: Tool, { name, wraps }: Wording): Tool => {
  if (tool.type === "builtin") return tool
  const named = { ...tool, name: name(tool.name) }
  return named.type === "custom" && wraps ? asFunctionTool(named) : named
}

const adaptChoice = (choice: ToolChoice | null, { name }: Wording): ToolChoice | null => {
  if (choice?.type === "tool") return { ...choice, name: name(choice.name) }
  return choice?.type === "allowed" ? { ...choice, names: choice.names.map(name) } : choice
}

const adaptPart = (part: Part, { id, name, wraps }: Wording): Part => {
  switch (part.type) {
    case "tool_call": {
      const call = { ...part, id: id(part.id), name: name(part.name) }
      return part.kind === "custom" && wraps ? { ...call, kind: "function", args: wrapInput(part.args) } : call
    }
    case "tool_result":
      return { ...part, callId: id(part.callId) }
    default:
      return part
  }
}

const speaksOfTools = ({ parts }: Message): boolean =>
  parts.some(({ type }) => type === "tool_call" || type === "tool_result")

/** Names and forms that differ, for the answer. */
const restorationOf = (
  conversation: Conversation,
  names: ReadonlyArray<string>,
  { name, wraps }: Wording
): ToolNames | null => {
  const custom = new Set(conversation.tools.flatMap((tool) => (tool.type === "custom" && wraps ? tool.name : [])))
  const back = new Map<string, ClientTool>()
  for (const own of names) {
    const sent = name(own)
    if (sent !== own || custom.has(own)) back.set(sent, { name: own, custom: custom.has(own) })
  }
  return back.size === 0 ? null : back
}

/** The limits of the endpoint, within those of its wire. */
export const limitsFor = (limits: ToolLimits, dialect: Dialect | undefined): ToolLimits =>
  dialect === undefined || dialect.callIds === null
    ? limits
    : { ...limits, callId: nineLettersOrDigits, mendsOwnIds: true }

const inverse = (aliases: ReadonlyMap<string, string>): CallIds | null =>
  aliases.size === 0 ? null : new Map([...aliases].map(([own, sent]) => [sent, own]))

/**
 * `openAiTools`: whether this upstream supports free-form tools; null when unknown. Between a client and an upstream of one wire at
 * most ids are changed.
 */
export const adaptTools = (
  conversation: Conversation,
  limits: ToolLimits,
  sameWire: boolean,
  openAiTools: boolean | null
): AdaptedTools => {
  const parts = partsOf(conversation)
  const names = namesOf(conversation, parts)
  const aliases = sameWire || limits.name === null ? nothing : aliasesOf(names, limits.name)
  const mendsIds = !sameWire || limits.mendsOwnIds
  const ids = limits.callId === null || !mendsIds ? nothing : aliasesOf(idsOf(parts), limits.callId)
  const knows = limits.freeForm === "known" ? openAiTools !== false : limits.freeForm === "some" && openAiTools === true
  const wraps =
    !sameWire &&
    !knows &&
    (conversation.tools.some(({ type }) => type === "custom") ||
      parts.some((part) => part.type === "tool_call" && part.kind === "custom"))
  if (aliases.size === 0 && ids.size === 0 && !wraps)
    return { conversation, toolNames: null, callIds: null, mapped: [] }
  const wording: Wording = { name: (name) => aliases.get(name) ?? name, id: (id) => ids.get(id) ?? id, wraps }
  return {
    conversation: {
      ...conversation,
      tools: conversation.tools.map((tool) => adaptTool(tool, wording)),
      toolChoice: adaptChoice(conversation.toolChoice, wording),
      messages: conversation.messages.map((message) =>
        speaksOfTools(message) ? { ...message, parts: message.parts.map((part) => adaptPart(part, wording)) } : message
      )
    },
    toolNames: restorationOf(conversation, names, wording),
    callIds: inverse(ids),
    mapped: [...(aliases.size === 0 ? [] : ["tools.name"]), ...(wraps ? ["tools.custom"] : [])]
  }
}
