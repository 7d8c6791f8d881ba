/** Calls whose answer is no JSON of the contract: text, or a stream that is read to its end. */
import { ApiError, readError } from "./ApiError.ts"
import { addressOf, gatewayUrl } from "./client.ts"
import { csrfToken } from "./session.ts"

export interface RawAnswer {
  readonly status: number
  readonly text: string
}

const asked = async (address: string, init: RequestInit): Promise<RawAnswer> => {
  const response = await fetch(new URL(address, gatewayUrl), init).catch((error: unknown) => {
    throw init.signal?.aborted === true ? error : ApiError.unreachable()
  })
  if (!response.ok) throw await readError(response)
  return { status: response.status, text: await response.text() }
}

export const sendRaw = (
  path: string,
  parameters: { readonly path?: unknown; readonly query?: unknown },
  body: object,
  signal: AbortSignal
): Promise<RawAnswer> =>
  asked(addressOf(path, parameters), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrfToken.value ?? "" },
    body: JSON.stringify(body),
    signal
  })

export const getText = async (
  path: string,
  parameters: { readonly path?: unknown; readonly query?: unknown },
  signal: AbortSignal
): Promise<string> => (await asked(addressOf(path, parameters), { signal })).text
