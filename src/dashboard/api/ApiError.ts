/** An answer that is an error, in the API's own words. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

export class ApiError extends Error {
  readonly status: number
  /** For programs; `unreachable` where no answer came. */
  readonly code: string
  readonly requestId: string | null
  readonly details: ReadonlyArray<FieldProblem>
  /** The whole answer: a 412 has the present object. */
  readonly answer: unknown
  /** Entity tag of the answer: that of the present object where it is a 412; null: none. */
  readonly tag: string | null

  constructor(
    message: string,
    told: {
      readonly status: number
      readonly code: string
      readonly requestId?: string | null
      readonly details?: ReadonlyArray<FieldProblem>
      readonly answer?: unknown
      readonly tag?: string | null
    }
  ) {
    super(message)
    this.status = told.status
    this.code = told.code
    this.requestId = told.requestId ?? null
    this.details = told.details ?? []
    this.answer = told.answer
    this.tag = told.tag ?? null
  }

  static unreachable(): ApiError {
    return new ApiError("The gateway does not answer.", { status: 0, code: "unreachable" })
  }
}

interface ErrorAnswer {
  readonly error?: {
    readonly message?: unknown
    readonly code?: unknown
    readonly details?: ReadonlyArray<FieldProblem>
  }
}

/** Reads the error of an answer; one that is not the gateway's (a proxy's page) is named by its status. */
export const readError = async (response: Response): Promise<ApiError> => {
  const answer = (await response.json().catch(() => ({}))) as ErrorAnswer
  const { code, details, message } = answer.error ?? {}
  return new ApiError(typeof message === "string" ? message : `The answer was ${response.status}.`, {
    status: response.status,
    code: typeof code === "string" ? code : `status_${response.status}`,
    requestId: response.headers.get("x-gateway-request-id"),
    details: Array.isArray(details) ? details : [],
    answer,
    tag: response.headers.get("etag")
  })
}
