/**
 * Assembles the tool-call fragments of a chat stream into blocks. Fragments are keyed by `index`, which may start anywhere, be missing,
 * or (some servers) be 0 for every call; id and name may be repeated.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import type { StreamEvent, UpstreamProblem } from "../canonical/Event.ts"
import { parseJson } from "../json/Json.ts"
import type { CallPiece } from "./Message.ts"
import { inventedId } from "./ResponseDecode.ts"

interface Block {
  readonly blockIndex: number
  readonly id: string | null
  readonly kind: "function" | "custom"
  /** All arguments so far: a block is closed when a later one begins and these are complete. */
  args: string
  open: boolean
}

/** Arguments are buffered until their calls are complete; no model writes more. */
const maxArgsChars = 16 * 1_048_576
/** No model makes more calls in one answer. */
const maxCalls = 1024

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

export interface CallBlocks {
  readonly setResponseId: (id: string) => void
  /** A problem when the calls cannot be assembled; further fragments are then ignored. */
  readonly push: (piece: CallPiece) => UpstreamProblem | null
  readonly count: () => number
  /** Closes the open blocks. */
  readonly finish: () => void
}

export const makeCallBlocks = (takeIndex: () => number, emit: (event: StreamEvent) => void): CallBlocks => {
  const byKey = new Map<number, Block>()
  const blocks: Array<Block> = []
  let responseId = ""
  let argsChars = 0

  const close = (block: Block): void => {
    if (block.open) emit({ type: "block_stop", index: block.blockIndex })
    block.open = false
  }

  const begin = (key: number, piece: CallPiece, name: string): Block => {
    // A call with complete arguments gets no more of them; an incomplete one may be interleaved with this one.
    for (const block of blocks) if (block.open && parseJson(block.args) !== undefined) close(block)
    const id = piece.id ?? inventedId(responseId, blocks.length)
    const block: Block = { blockIndex: takeIndex(), id: piece.id, kind: piece.kind, args: "", open: true }
    byKey.set(key, block)
    blocks.push(block)
    emit({ type: "block_start", index: block.blockIndex, block: { type: "tool_call", id, name, kind: piece.kind } })
    return block
  }

  /** The block a fragment belongs to; undefined when it begins a new one. */
  const find = (piece: CallPiece): Block | undefined => {
    const known = piece.index === null ? blocks.at(-1) : byKey.get(piece.index)
    if (known === undefined) return undefined
    const another = piece.id !== null && piece.id !== known.id && piece.name !== null
    return another || (piece.index === null && piece.id === null && piece.name !== null) ? undefined : known
  }

  const push = (piece: CallPiece): UpstreamProblem | null => {
    let block = find(piece)
    if (block === undefined) {
      if (piece.name === null) {
        return problem("The upstream sent tool-call arguments without the call's name.")
      }
      if (blocks.length === maxCalls) return problem(`The upstream sent more than ${maxCalls} tool calls.`)
      block = begin(piece.index ?? blocks.length, piece, piece.name)
    }
    if (piece.args === "") return null
    argsChars += piece.args.length
    if (!block.open || argsChars > maxArgsChars) {
      return problem("The upstream sent tool-call arguments that cannot be put together.")
    }
    block.args += piece.args
    emit({ type: "delta", index: block.blockIndex, delta: { type: "args", text: piece.args } })
    return null
  }

  return {
    setResponseId: (id) => {
      responseId = id
    },
    push,
    count: () => blocks.length,
    finish: () => {
      for (const block of blocks) close(block)
    }
  }
}
