/** Refusals of capture, beside those of its single parts. */
import * as Data from "effect/Data"

/** `problem` goes on from the name of the host. */
export class BadHost extends Data.TaggedError("CaptureBadHost")<{ readonly problem: string }> {}

export class HostKnown extends Data.TaggedError("CaptureHostKnown")<{ readonly host: string }> {}

export class HostNotFound extends Data.TaggedError("CaptureHostNotFound")<{ readonly host: string }> {}

export class TooManyHosts extends Data.TaggedError("CaptureTooManyHosts")<{ readonly most: number }> {}

/** The desktop's proxy is not set to a listener that does not run. */
export class ProxyNotRunning extends Data.TaggedError("CaptureProxyNotRunning") {}

/** `problem` goes on from the name of the field. */
export class BadValue extends Data.TaggedError("CaptureBadValue")<{
  readonly field: string
  readonly problem: string
}> {}
