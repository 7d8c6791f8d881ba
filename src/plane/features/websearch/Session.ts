/**
 * One answer that is put together of several: each ends where the model wants the web to be searched, and the next goes on with what was found.
 * Stands in the place of the client's codec, for a stream and for a whole answer. Pure state of one request.
 */
import type { Message, OpaquePart, ToolCallPart } from "../../../wire/canonical/Conversation.ts"
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import { makePartCollector, type PartCollector } from "../../../wire/canonical/PartCollector.ts"
import type { AnswerPart, Response, Stop } from "../../../wire/canonical/Response.ts"
import type { SearchHit } from "../../../wire/canonical/SearchFacts.ts"
import { mergeUsage, type Usage } from "../../../wire/canonical/Usage.ts"
import { sumTokens } from "../../../contract/domain/Usage.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { EncodeContext, StreamEncoder, WireCodec } from "../../../wire/WireCodec.ts"
import { citationsOf } from "./Cited.ts"
import { resultFor, type SearchOutcome } from "./SearchTool.ts"

type BlockEvent = Extract<StreamEvent, { readonly index: number }>

const sum = (one: Usage | null, other: Usage | null): Usage | null =>
  one === null || other === null ? (one ?? other) : sumTokens(one, other)

/** The usage that the client sees says how often was searched; the bill has the searches themselves. */
const withSearches = (usage: Usage | null, webSearches: number): Usage | null =>
  usage === null || webSearches === 0 ? usage : { ...usage, billing: { tools: { webSearches } } }

const isCall = (part: AnswerPart): part is ToolCallPart => part.type === "tool_call"

/** One call of the model: what it has said, and what it wants to be searched. */
export interface Part {
  readonly parts: ReadonlyArray<AnswerPart>
  /** Calls of the search. */
  readonly searches: ReadonlyArray<ToolCallPart>
  /** True when it also calls tools of the client, which wait for their results. */
  readonly callsClient: boolean
}

/** Part of the answer that one attempt has written so far. It counts when its answer does. */
interface Writing {
  readonly context: EncodeContext
  readonly encoder: StreamEncoder
  readonly events: Array<StreamEvent>
  readonly collector: PartCollector
  usage: Usage | null
  stop: Stop | null
  response: Response | null
  nextIndex: number
  /** True when the events that waited for the client have been written. */
  isFlushed: boolean
}

export class Session {
  readonly #client: WireCodec
  readonly #tool: string
  /**
   * The client's wire cannot carry what was found to the next turn: the model is told that first, and calls tools of the client with what it
   * knows then.
   */
  readonly #waitsWithCalls: boolean
  /** Events that the client has of the stream, from the calls before. */
  readonly #told: Array<StreamEvent> = []
  /** The same of a whole answer. */
  readonly #parts: Array<AnswerPart> = []
  readonly #hits: Array<SearchHit> = []
  #usage: Usage | null = null
  #nextIndex = 0
  #searches = 0
  /** Number of searches that were made. */
  #made = 0
  #context: EncodeContext | null = null
  #writing: Writing | null = null
  /** Text for the client that waits for its head. */
  #waiting = ""

  constructor(client: WireCodec, tool: string) {
    this.#client = client
    this.#tool = tool
    this.#waitsWithCalls = client.name === "chat" || client.name === "gemini"
  }

  /** The client's codec, for one attempt at a target. */
  codec(own: Pick<WireCodec, "decodeRequest">): WireCodec {
    return {
      ...this.#client,
      ...own,
      makeStreamEncoder: (context) => this.#streaming(context),
      encodeResponse: (response, context) => this.#whole(response, context)
    }
  }

  /** The latest attempt is not this session's. */
  passed(): void {
    this.#writing = null
  }

  /** Returns the answer of the latest attempt; null where it was not this session's, or is too long to go on with. */
  part(): Part | null {
    const writing = this.#writing
    const parts = writing === null ? null : (writing.response?.parts ?? writing.collector.parts())
    if (parts === null) return null
    const calls = parts.filter(isCall)
    const searches = calls.filter(({ name }) => name === this.#tool)
    if (this.#waitsWithCalls && searches.length > 0)
      return { parts: parts.filter(this.#isNoClientCall), searches, callsClient: false }
    return { parts, searches, callsClient: calls.length > searches.length }
  }

  readonly #isNoClientCall = (part: AnswerPart): boolean => !isCall(part) || part.name === this.#tool

  /** Takes over what the latest attempt has said. `text`: of its stream, what the client has not been sent. */
  take(text: string): void {
    const writing = this.#writing
    if (writing === null) return
    const { context, events, isFlushed, nextIndex, response, usage } = writing
    this.#context ??= context
    this.#told.push(...events)
    if (response !== null) {
      const parts = this.#waitsWithCalls ? response.parts.filter(this.#isNoClientCall) : response.parts
      this.#parts.push(...this.#visible(parts))
    }
    this.#usage = sum(this.#usage, response?.usage ?? usage)
    this.#nextIndex = nextIndex
    this.#waiting = (isFlushed ? "" : this.#waiting) + text
  }

  /** Tells the client of searches. */
  tell(outcomes: ReadonlyArray<readonly [call: ToolCallPart, outcome: SearchOutcome]>): void {
    for (const [{ id }, { error, hits, query }] of outcomes) {
      this.#hits.push(...hits)
      this.#searches += 1
      if (error === null) this.#made += 1
      // Not every model has ids of its own for its calls.
      const search = { id: `${id}x${this.#searches}`, queries: query === "" ? [] : [query], hits, error }
      const part: OpaquePart = { type: "opaque", wire: null, kind: "web_search", value: {}, search }
      this.#parts.push(part)
      const index = this.#nextIndex++
      this.#waiting += this.#feed({ type: "block_start", index, block: { type: "opaque", part } })
      this.#waiting += this.#feed({ type: "block_stop", index })
    }
  }

  /** The turns that the next call goes on from. */
  turns(
    { parts }: Part,
    outcomes: ReadonlyArray<readonly [call: ToolCallPart, outcome: SearchOutcome]>
  ): ReadonlyArray<Message> {
    const said = parts.filter((part) => part.type !== "refusal" && !(part.type === "text" && part.text === ""))
    return [
      { role: "assistant", parts: said },
      { role: "tool", parts: outcomes.map(([{ id }, outcome]) => resultFor(id, outcome)) }
    ]
  }

  /** Text of the stream that waits for its head, or for more of it. */
  release(): string {
    const text = this.#waiting
    this.#waiting = ""
    return text
  }

  /** The end of the stream, where the client's own tools are next or nothing more is asked. */
  endStream(stop: Stop): string {
    const usage = withSearches(this.#usage, this.#made)
    return (
      this.release() +
      (usage === null ? "" : this.#feed({ type: "usage", usage })) +
      this.#feed({ type: "finish", stop }) +
      this.#feed({ type: "done" })
    )
  }

  /** The same of a whole answer. */
  endWhole(stop: Stop): JsonObject {
    const { context, response } = this.#latest()
    const all = {
      ...response,
      parts: inOrder(this.#parts),
      stop,
      usage: withSearches(this.#usage, this.#made),
      logprobs: null
    }
    return this.#client.encodeResponse(all, context)
  }

  /** Returns the stop reason of the latest attempt. */
  stop(): Stop {
    const { response, stop } = this.#writing ?? { response: null, stop: null }
    return response?.stop ?? stop ?? { reason: "stop", raw: "", sequence: null }
  }

  #latest(): { readonly context: EncodeContext; readonly response: Omit<Response, "parts" | "stop"> } {
    const writing = this.#writing
    if (writing === null || writing.response === null) throw new Error("Nothing was answered yet.")
    return { context: this.#context ?? writing.context, response: writing.response }
  }

  /** The client's stream as it stands: an encoder that has written all of it. */
  #encoder(context: EncodeContext): StreamEncoder {
    const encoder = this.#client.makeStreamEncoder(this.#context ?? context)
    for (const event of this.#told) encoder.encode(event)
    return encoder
  }

  /** Feeds an event between two calls. */
  #feed(event: StreamEvent): string {
    const writing = this.#writing
    if (writing === null) return ""
    this.#told.push(event)
    return writing.encoder.encode(event)
  }

  #begin(context: EncodeContext): Writing {
    const encoder = this.#encoder(context)
    const writing: Writing = {
      context,
      encoder,
      events: [],
      collector: makePartCollector(),
      usage: null,
      stop: null,
      response: null,
      nextIndex: this.#nextIndex,
      isFlushed: false
    }
    this.#writing = writing
    return writing
  }

  #visible(parts: ReadonlyArray<AnswerPart>): ReadonlyArray<AnswerPart> {
    return parts.flatMap((part): ReadonlyArray<AnswerPart> => {
      if (part.type === "tool_call" && part.name === this.#tool) return []
      if (part.type !== "text") return [part]
      const citations = citationsOf(part.text, this.#hits)
      return [citations.length === 0 ? part : { ...part, citations }]
    })
  }

  #whole(response: Response, context: EncodeContext): JsonObject {
    this.#begin(context).response = response
    if (response.parts.some((part) => isCall(part) && part.name === this.#tool)) return {}
    if (this.#context === null) return this.#client.encodeResponse(response, context)
    const parts = inOrder([...this.#parts, ...this.#visible(response.parts)])
    return this.#client.encodeResponse(
      { ...response, parts, usage: withSearches(sum(this.#usage, response.usage), this.#made), logprobs: null },
      this.#context
    )
  }

  #streaming(context: EncodeContext): StreamEncoder {
    const writing = this.#begin(context)
    const isFirst = this.#context === null
    /** The client's numbers of blocks, by the target's. */
    const numbers = new Map<number, number>()
    const texts = new Map<number, string>()
    /** Calls of the client's tools that wait until it is known that nothing is to be searched. */
    const delayed: Array<BlockEvent> = []
    const isDelayed = new Set<number>()
    let hasSearches = false
    let isEnding = false
    const before = this.#waiting

    const feed = (event: StreamEvent): string => {
      writing.events.push(event)
      const text = writing.encoder.encode(event)
      if (text === "" || writing.isFlushed) return text
      writing.isFlushed = true
      return before + text
    }

    const cite = (index: number, number: number): string =>
      citationsOf(texts.get(index) ?? "", this.#hits)
        .map((citation) => feed({ type: "delta", index: number, delta: { type: "citation", citation } }))
        .join("")

    const onBlock = (event: BlockEvent): string => {
      const { index } = event
      if (event.type === "block_start") {
        const { block } = event
        if (block.type === "tool_call" && block.name === this.#tool) {
          hasSearches = true
          return ""
        }
        if (block.type === "tool_call" && this.#waitsWithCalls && !isEnding) {
          isDelayed.add(index)
          delayed.push(event)
          return ""
        }
        const number = writing.nextIndex++
        numbers.set(index, number)
        if (block.type === "text") texts.set(index, "")
        return feed({ ...event, index: number })
      }
      if (isDelayed.has(index) && !isEnding) {
        delayed.push(event)
        return ""
      }
      const number = numbers.get(index)
      if (number === undefined) return ""
      if (event.type === "delta") {
        const said = texts.get(index)
        if (said !== undefined && event.delta.type === "text") texts.set(index, said + event.delta.text)
        return feed({ ...event, index: number })
      }
      const cited = texts.has(index) ? cite(index, number) : ""
      texts.delete(index)
      numbers.delete(index)
      return cited + feed({ ...event, index: number })
    }

    /** Nothing is to be searched: the answer is whole. */
    const end = (): string => {
      if (hasSearches) return ""
      isEnding = true
      const calls = delayed.map(onBlock).join("")
      const usage = withSearches(sum(this.#usage, writing.usage), this.#made)
      const { stop } = writing
      return (
        calls +
        (usage === null ? "" : feed({ type: "usage", usage })) +
        (stop === null ? "" : feed({ type: "finish", stop })) +
        feed({ type: "done" })
      )
    }

    return {
      encode: (event) => {
        writing.collector.add(event)
        switch (event.type) {
          case "start":
            return isFirst ? feed(event) : ""
          case "usage":
            writing.usage = mergeUsage(writing.usage, event.usage)
            return ""
          case "finish":
            writing.stop = event.stop
            return ""
          case "done":
            return end()
          case "ping":
            return writing.encoder.encode(event)
          case "error":
            return ""
          default:
            return onBlock(event)
        }
      }
    }
  }
}

/** Calls of the client's tools stand behind what was searched. */
const inOrder = (parts: ReadonlyArray<AnswerPart>): ReadonlyArray<AnswerPart> => {
  const calls = parts.filter(isCall)
  return calls.length === 0 ? parts : [...parts.filter((part) => !isCall(part)), ...calls]
}
