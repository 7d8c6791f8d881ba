/** A client, the listener and a server of the internet, each with real sockets. The "internet" has a certificate authority of its own. */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import * as http2 from "node:http2"
import { createServer as createHttp, type RequestListener } from "node:http"
import { createServer as createHttps, request, type RequestOptions } from "node:https"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import type {
  CapturedEnd,
  CapturedHead,
  CapturedRequest,
  CaptureSink
} from "../../../../src/observe/capture/CaptureSink.ts"
import * as CertificateAuthority from "../../../../src/observe/capture/tls/CertificateAuthority.ts"
import { makeLeafCertificates } from "../../../../src/observe/capture/tls/LeafCertificates.ts"
import type { ListenerOptions } from "../../../../src/observe/capture/tls/Connection.ts"
import { type Listener, makeListener } from "../../../../src/observe/capture/tls/Listener.ts"
import { dialFailed, type Origin } from "../../../../src/observe/capture/tls/Origin.ts"
import { Refusals } from "../../../../src/observe/capture/tls/Refusals.ts"
import { makeServerTls } from "../../../../src/observe/capture/tls/ServerLink.ts"
import { make as nativeTimers, type Timers } from "../../../../src/platform/Timers.ts"
import { eventuallyFound } from "../../../support/eventually.ts"

export interface Entry {
  readonly request: CapturedRequest
  head: CapturedHead | null
  end: CapturedEnd | null
}

export interface RecordingSink extends CaptureSink {
  readonly entries: ReadonlyArray<Entry>
  /** The first finished entry that fits. */
  readonly finished: (fits?: (entry: Entry) => boolean) => Promise<Entry & { readonly end: CapturedEnd }>
}

export const makeSink = (): RecordingSink => {
  const entries: Array<Entry> = []
  return {
    entries,
    begin: (captured) => String(entries.push({ request: captured, head: null, end: null }) - 1),
    update: (id, head) => {
      const entry = entries[Number(id)]
      if (entry !== undefined) entry.head = head
    },
    finish: (id, end) => {
      const entry = entries[Number(id)]
      if (entry === undefined || entry.end !== null) throw new Error(`Finished twice, or never begun: ${id}`)
      entry.end = end
    },
    finished: async (fits = () => true) => {
      const entry = await eventuallyFound("finished entry", () =>
        entries.find((candidate) => candidate.end !== null && fits(candidate))
      )
      if (entry.end === null) throw new Error("It is not finished.")
      return { ...entry, end: entry.end }
    }
  }
}

export const textOf = (chunks: ReadonlyArray<Buffer>): string => Buffer.concat(chunks).toString("utf8")

export interface Made {
  readonly authority: CertificateAuthority.CertificateAuthority
  readonly key: Awaited<ReturnType<typeof makeKey>>
}

const makeKey = () => Effect.runPromise(CertificateAuthority.makeKey)

let authorities: Promise<{ readonly ours: Made; readonly internet: Made; readonly stranger: Made }> | null = null

const makeOne = async (purpose: string): Promise<Made> => ({
  authority: await Effect.runPromise(CertificateAuthority.make(purpose)),
  key: await makeKey()
})

/** Keys take their time, so all tests of a process share them. */
export const sharedAuthorities = () =>
  (authorities ??= (async () => ({
    ours: await makeOne("Gateway test"),
    internet: await makeOne("Internet"),
    stranger: await makeOne("Stranger")
  }))())

const listening = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

export interface WorldOptions extends Partial<
  Pick<ListenerOptions, "isNeverDecrypted" | "idleTimeoutMs" | "intercept" | "refusesUpgrade" | "needsHttp1">
> {
  readonly maxBodyBytes?: number
  readonly verifies?: boolean
  readonly timers?: typeof Timers.Service
  /** What the connection is known by; the default is an address, as in the transparent mode. */
  readonly origin?: Partial<Pick<Origin, "name" | "address">>
}

export interface World {
  readonly listener: Listener
  readonly sink: RecordingSink
  readonly refusals: Refusals
  /** Of the front. */
  readonly port: number
  /** PEM, for clients. */
  readonly ca: string
  readonly ended: () => ReadonlyArray<Socket>
  readonly close: () => void
}

/** All connections of the front go to `serverPort`. */
export const makeWorld = async (serverPort: number, options: WorldOptions = {}): Promise<World> => {
  const { internet, ours } = await sharedAuthorities()
  const timers = options.timers ?? nativeTimers
  const sink = makeSink()
  const refusals = new Refusals()
  const listener = makeListener({
    recording: { sink, timers, maxBodyBytes: options.maxBodyBytes ?? 1_048_576 },
    http2,
    leaves: makeLeafCertificates(ours.authority, ours.key),
    refusals,
    serverTls: makeServerTls({
      timers,
      timeoutMs: 10_000,
      verifies: () => options.verifies ?? true,
      extraAuthority: () => internet.authority.certificate
    }),
    isNeverDecrypted: options.isNeverDecrypted ?? (() => false),
    idleTimeoutMs: options.idleTimeoutMs ?? 300_000,
    intercept: options.intercept ?? null,
    ...(options.refusesUpgrade === undefined ? {} : { refusesUpgrade: options.refusesUpgrade }),
    ...(options.needsHttp1 === undefined ? {} : { needsHttp1: options.needsHttp1 })
  })
  const sockets: Array<Socket> = []
  const front = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    listener.accept(socket, {
      name: null,
      address: "127.0.0.1",
      port: 443,
      ...options.origin,
      labelOf: () => ({ source: "tproxy", agent: null }),
      dial: (_name, done) => {
        const server = connect({ host: "127.0.0.1", port: serverPort, allowHalfOpen: true })
        const fail = (error: Error): void => done(dialFailed(error, "the server"))
        server.once("error", fail).once("connect", () => {
          server.off("error", fail)
          done(server)
        })
      }
    })
  })
  const port = await listening(front)
  return {
    listener,
    sink,
    refusals,
    port,
    ca: ours.authority.certificate,
    ended: () => sockets.filter((socket) => socket.destroyed),
    close: () => {
      front.close()
      listener.close()
    }
  }
}

export interface Running {
  readonly port: number
  readonly close: () => void
}

export const plainServer = async (handle: RequestListener): Promise<Running> => {
  const server = createHttp(handle)
  const port = await listening(server)
  return {
    port,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** A server of the internet, for one name or address. */
export const secureServer = async (
  name: string,
  handle: RequestListener,
  signer: "internet" | "stranger" = "internet",
  adapt: (server: ReturnType<typeof createHttps>) => void = () => {}
): Promise<Running> => {
  const { [signer]: made } = await sharedAuthorities()
  const { certificate } = await made.authority.issue(name, made.key, Date.now())
  const server = createHttps({ cert: certificate, key: made.key.export({ type: "pkcs8", format: "pem" }) }, handle)
  adapt(server)
  const port = await listening(server)
  return {
    port,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** A server without HTTP. */
export const rawServer = async (handle: (socket: Socket) => void): Promise<Running> => {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    handle(socket)
  })
  const port = await listening(server)
  return {
    port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

export interface Answer {
  readonly status: number
  readonly rawHeaders: ReadonlyArray<string>
  readonly body: string
  readonly trailers: NodeJS.Dict<string>
}

/** One request over TLS through the front. */
export const askThrough = (
  { ca, port }: Pick<World, "ca" | "port">,
  options: RequestOptions & { readonly body?: string | Buffer }
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options
    const asked = request({ host: "127.0.0.1", port, ca, agent: false, ...rest }, (answer) => {
      const chunks: Array<Buffer> = []
      answer
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("error", reject)
        .on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            rawHeaders: answer.rawHeaders,
            body: textOf(chunks),
            trailers: answer.trailers
          })
        )
    })
    asked.on("error", reject)
    asked.end(body)
  })
