/** Requests of a client to the gateway, both on the client's host. */

export interface Fetch {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface Fetched {
  readonly status: number
  readonly egress: string | null
  readonly text: string
  /** Whether the body ended as announced. */
  readonly isWhole: boolean
}

export interface Fetching {
  /** As far as it was read at the first piece of the body. */
  readonly begun: Promise<Fetched>
  readonly ended: Promise<Fetched>
}

export const startFetch = ({ body, headers, method, url }: Fetch): Fetching => {
  let begin: (fetched: Fetched) => void = () => {}
  const begun = new Promise<Fetched>((resolve) => (begin = resolve))
  const read = async (): Promise<Fetched> => {
    const response = await fetch(url, { method, headers, body })
    const head = { status: response.status, egress: response.headers.get("x-gateway-egress") }
    const decoder = new TextDecoder()
    let text = ""
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true })
        begin({ ...head, text, isWhole: false })
      }
    } catch {
      return { ...head, text, isWhole: false }
    }
    return { ...head, text, isWhole: true }
  }
  const ended = read()
  void ended.then(begin, () => begin({ status: 0, egress: null, text: "", isWhole: false }))
  return { begun, ended }
}
