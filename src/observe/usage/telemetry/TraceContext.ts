/** The trace a client's request belongs to (https://www.w3.org/TR/trace-context/#traceparent-header). Pure. */

export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** Id of the client's span, 16 lower-case hex digits. */
  readonly parentSpanId: string
  readonly sampled: boolean
}

/** Later versions may say more after the flags. */
const shape = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/u

/** Null where the header is missing or not valid: the request then has a trace of its own. */
export const parseTraceparent = (header: string | null | undefined): TraceContext | null => {
  if (header === null || header === undefined || header.length > 256) return null
  const [, traceId, parentSpanId, flags] = shape.exec(header.trim()) ?? []
  if (traceId === undefined || parentSpanId === undefined || flags === undefined) return null
  return { traceId, parentSpanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
