/**
 * Entry of requests that the gateway makes itself. The pipeline serves them, and the requests of its own features may go through it, too: it is
 * attached when it is built.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { InferenceError } from "../../contract/domain/Errors.ts"
import type { Exchange } from "./Exchange.ts"

/** Serves a request, as `Pipeline.serve`. */
export type Serve = (exchange: Exchange, over: () => void) => void
/** Refuses a request, as `Pipeline.refuse`. */
export type Refuse = (exchange: Exchange, error: InferenceError) => void

export class InnerPipeline extends Context.Tag("gateway/plane/request/InnerPipeline")<
  InnerPipeline,
  {
    readonly attach: (pipeline: { readonly serve: Serve; readonly refuse: Refuse }) => void
    readonly serve: Serve
    readonly refuse: Refuse
  }
>() {}

export const make = (): typeof InnerPipeline.Service => {
  let attached: { readonly serve: Serve; readonly refuse: Refuse } | null = null
  const pipeline = () => {
    if (attached === null) throw new Error("No pipeline is there yet.")
    return attached
  }
  return InnerPipeline.of({
    attach: (pipelineService) => {
      attached = pipelineService
    },
    serve: (exchange, over) => pipeline().serve(exchange, over),
    refuse: (exchange, error) => pipeline().refuse(exchange, error)
  })
}

export const layer: Layer.Layer<InnerPipeline> = Layer.sync(InnerPipeline, make)
