/**
 * Ids of tool calls: the wire may leave them out and then matches results to calls by name and order.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */

/** An id for a call that came without one; stable for the same answer. */
export const inventedId = (responseId: string, index: number): string =>
  `call_${responseId.replaceAll(/[^a-zA-Z0-9_-]/g, "").slice(-24)}_${index}`

/** Ids within one conversation. A history grows at its end only, so invented ids are stable from turn to turn. */
export interface CallLedger {
  /** Call at the first content of the model after one that is not the model's: older calls get no more results. */
  readonly beginStep: () => void
  readonly call: (id: string | undefined, name: string) => string
  /** The call a result belongs to; null when there is none. */
  readonly answer: (id: string | undefined, name: string) => string | null
}

/** Calls of one function without results, in order. */
interface Queue {
  readonly ids: Array<string>
  next: number
}

export const makeCallLedger = (): CallLedger => {
  const ids = new Set<string>()
  const answered = new Set<string>()
  const waiting = new Map<string, Queue>()

  const call = (given: string | undefined, name: string): string => {
    const id = given === undefined || given === "" ? `call_${ids.size}` : given
    ids.add(id)
    const queue = waiting.get(name)
    if (queue === undefined) waiting.set(name, { ids: [id], next: 0 })
    else queue.ids.push(id)
    return id
  }

  const answer = (given: string | undefined, name: string): string | null => {
    if (given !== undefined && ids.has(given)) {
      answered.add(given)
      return given
    }
    const queue = waiting.get(name) ?? { ids: [], next: 0 }
    while (queue.next < queue.ids.length) {
      const id = queue.ids[queue.next]
      queue.next += 1
      if (id === undefined || answered.has(id)) continue
      answered.add(id)
      return id
    }
    return null
  }

  return { beginStep: () => waiting.clear(), call, answer }
}
