/** Bytes of an event stream → canonical events: the scanner before a wire's event decoder. */
import { answerTooLarge } from "../UpstreamError.ts"
import type { StreamEvent } from "../canonical/Event.ts"
import type { StreamDecoder } from "../WireCodec.ts"
import { makeSseScanner, type SseEvent } from "./SseScanner.ts"

/** Decodes the events of a wire. */
export interface EventDecoder {
  readonly event: (event: SseEvent) => ReadonlyArray<StreamEvent>
  readonly end: () => ReadonlyArray<StreamEvent>
}

export const makeSseDecoder = (decoder: EventDecoder, maxEventBytes?: number): StreamDecoder => {
  const scanner = makeSseScanner(maxEventBytes)
  const decodeAll = (events: ReadonlyArray<SseEvent>): ReadonlyArray<StreamEvent> => {
    const [first] = events
    if (first === undefined) return []
    return events.length === 1 ? decoder.event(first) : events.flatMap((event) => decoder.event(event))
  }
  return {
    push: (chunk) => {
      const events = decodeAll(scanner.push(chunk))
      const failure = scanner.failure()
      if (failure === null) return events
      const message = `The upstream sent an event larger than ${failure.limitBytes} bytes.`
      return [...events, { type: "error", problem: { status: 502, message, type: null, code: answerTooLarge } }]
    },
    end: () => [...decodeAll(scanner.end()), ...decoder.end()]
  }
}
