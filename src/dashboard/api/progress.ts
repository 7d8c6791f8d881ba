/** Asks for long work and hears how far it is. Leaving ends the work at the gateway. */
import { ApiError, type FieldProblem } from "./ApiError.ts"
import { type Anything, type Answer, type Call, type CalledWith, request } from "./client.ts"
import { readEvents } from "./events.ts"

export interface Progress {
  readonly done: number
  readonly total: number
}

interface ErrorEvent {
  readonly error?: {
    readonly message?: string
    readonly code?: string
    readonly details?: ReadonlyArray<FieldProblem>
  }
}

const brokenOff = (): ApiError => new ApiError("The work broke off.", { status: 0, code: "broken" })

/** Throws what an event `error` tells. */
const fail = (data: string): never => {
  const { code, details, message } = (JSON.parse(data) as ErrorEvent).error ?? {}
  throw new ApiError(message ?? "The work broke off.", {
    status: 0,
    code: code ?? "broken",
    ...(details === undefined ? {} : { details })
  })
}

/** Asks an operation that answers with events `progress` and one `result`. */
export const withProgress = async <Group, Name extends string>(
  { method, path }: Call<Group, Name>,
  asked: CalledWith<Group, Name> & { readonly signal: AbortSignal },
  tell: (progress: Progress) => void
): Promise<Answer<Group, Name>> => {
  const response = await request(method, path, asked as Anything, { accept: "text/event-stream" })
  if (response.body === null) throw brokenOff()
  let result: { readonly answer: Answer<Group, Name> } | null = null
  await readEvents(response.body, (data, name) => {
    if (name === "progress") tell(JSON.parse(data) as Progress)
    else if (name === "error") fail(data)
    else if (name === "result") result = { answer: JSON.parse(data) as Answer<Group, Name> }
  }).catch((error: unknown) => {
    throw error instanceof ApiError || asked.signal.aborted ? error : ApiError.unreachable()
  })
  if (result === null) throw brokenOff()
  return (result as { readonly answer: Answer<Group, Name> }).answer
}
