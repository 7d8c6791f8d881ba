/**
 * Free-form calls in answers to clients that have offered no free-form tool: their arguments are JSON, as such clients expect it, in streams and whole
 * answers alike.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isArray, isObject, type JsonObject, objectOr, stringOr } from "../../json/Json.ts"
import type { StreamEvent } from "../Event.ts"
import { wrapInput } from "./FreeForm.ts"
import type { Response } from "../Response.ts"

/** Checks whether the client has offered a free-form tool of that name. */
export type OffersFreeForm = (name: string) => boolean

const never: OffersFreeForm = () => false

/**
 * Makes the check for the request of a client. Only the chat and responses wires have such tools. Without a request the
 * offer is unknown: then calls stay as they are.
 */
export const offersFreeForm = (client: WireName, request: JsonObject | undefined): OffersFreeForm => {
  if (client !== "chat" && client !== "responses") return never
  if (request === undefined) return () => true
  let names: ReadonlySet<string> | null = null
  const offered = (): ReadonlySet<string> => {
    const tools = isArray(request["tools"]) ? request["tools"].filter(isObject) : []
    return new Set(
      tools.flatMap((tool) => {
        const name = stringOr(tool["name"]) ?? stringOr(objectOr(tool["custom"])["name"])
        return tool["type"] === "custom" && name !== null ? [name] : []
      })
    )
  }
  return (name) => (names ??= offered()).has(name)
}

export const withJsonCalls = (response: Response, offers: OffersFreeForm): Response =>
  response.parts.some((part) => part.type === "tool_call" && part.kind === "custom" && !offers(part.name))
    ? {
        ...response,
        parts: response.parts.map((part) =>
          part.type === "tool_call" && part.kind === "custom" && !offers(part.name)
            ? { ...part, kind: "function", args: wrapInput(part.args) }
            : part
        )
      }
    : response

/** The same of a stream: the input of such a call comes in one piece, at its end. */
export const makeJsonCalls = (offers: OffersFreeForm): ((event: StreamEvent) => ReadonlyArray<StreamEvent>) => {
  const held = new Map<number, string>()
  return (event) => {
    switch (event.type) {
      case "block_start": {
        const { block, index } = event
        if (block.type !== "tool_call" || block.kind !== "custom" || offers(block.name)) return [event]
        held.set(index, "")
        return [{ ...event, block: { ...block, kind: "function" } }]
      }
      case "delta": {
        const text = event.delta.type === "args" ? held.get(event.index) : undefined
        if (text === undefined || event.delta.type !== "args") return [event]
        held.set(event.index, text + event.delta.text)
        return []
      }
      case "block_stop": {
        const text = held.get(event.index)
        if (text === undefined) return [event]
        held.delete(event.index)
        return [{ type: "delta", index: event.index, delta: { type: "args", text: wrapInput(text) } }, event]
      }
      default:
        return [event]
    }
  }
}
