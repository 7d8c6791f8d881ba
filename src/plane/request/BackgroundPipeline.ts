/**
 * Registry of responses that providers make in the background. The calls that begin them know nothing of the service that keeps them: it is attached
 * when it is built.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { JobTicket } from "../../subjects/mediaJobs/entity.ts"

/** A response that a provider has begun, and for whom. */
export interface BegunResponse {
  /** With the price of its beginning. */
  readonly ticket: JobTicket
  readonly isOpen: boolean
  readonly principal: Principal
  /** Model as the client named it. */
  readonly requestedModel: string
  readonly provider: string
  readonly connectionId: string
  /** The provider's name of the model. */
  readonly model: string
}

export type Note = (begun: BegunResponse) => void

export class BackgroundPipeline extends Context.Tag("gateway/plane/request/BackgroundPipeline")<
  BackgroundPipeline,
  { readonly attach: (note: Note) => void; readonly note: Note }
>() {}

export const make = (): typeof BackgroundPipeline.Service => {
  let attached: Note | null = null
  return BackgroundPipeline.of({
    attach: (note) => {
      attached = note
    },
    note: (begun) => attached?.(begun)
  })
}

export const layer: Layer.Layer<BackgroundPipeline> = Layer.sync(BackgroundPipeline, make)
