/** The events that one plugin is still to be told of. Bounded in number and in bytes of bodies; what finds it full is dropped. */
import type { HookCall } from "./Listener.ts"

export const mostWaiting = 1_000
export const mostWaitingBytes = 16 * 1_048_576
export const batchCalls = 100

const bytesOf = ({ body }: HookCall): number => body?.length ?? 0

export class EventLine {
  #calls: Array<HookCall> = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  /** Hot: false: it is full. */
  add(call: HookCall): boolean {
    const bytes = bytesOf(call)
    if (this.#calls.length >= mostWaiting || (bytes > 0 && this.#bytes + bytes > mostWaitingBytes)) return false
    this.#calls.push(call)
    this.#bytes += bytes
    return true
  }

  /** The oldest, at most `batchCalls`. */
  take(): ReadonlyArray<HookCall> {
    const batch = this.#calls.splice(0, batchCalls)
    for (const call of batch) this.#bytes -= bytesOf(call)
    return batch
  }
}
