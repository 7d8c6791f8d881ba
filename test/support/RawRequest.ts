/** A request as it stands: fetch lets a caller choose neither `Host` and `Origin` nor the spelling of the path. */
import { type IncomingHttpHeaders, request } from "node:http"

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly trailers: Readonly<Record<string, string | undefined>>
}

export interface RawAsk {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

/** `url` is the gateway's; only its port counts. */
export const ask = (url: string, { body, headers, method, path }: RawAsk): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port: new URL(url).port, method, path, headers: { ...headers } },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("utf8"),
            trailers: response.trailers
          })
        )
      }
    )
    asked.on("error", reject)
    asked.end(body)
  })
