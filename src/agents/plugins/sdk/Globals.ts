/** The types of what exists inside a sandbox besides ECMAScript: always, and by permission. They say what `sandbox/inside` defines. */

export const globals = `
// What is always there, besides ECMAScript.
declare const console: { [level in "debug" | "trace" | "log" | "info" | "warn" | "error"]: (...values: Array<any>) => void }
declare function setTimeout(run: (...values: Array<any>) => void, ms?: number, ...values: Array<any>): number
declare function clearTimeout(timer: number): void
declare const crypto: { randomUUID(): string }
declare class TextEncoder {
  readonly encoding: string
  encode(text?: string): Uint8Array
}
declare class TextDecoder {
  /** Only UTF-8. */
  constructor(label?: string, options?: { fatal?: boolean })
  readonly encoding: string
  readonly fatal: boolean
  decode(bytes?: ArrayBuffer | ArrayBufferView): string
}
declare class URLSearchParams {
  constructor(from?: string | Iterable<[string, string]> | { [name: string]: string })
  append(name: string, value: string): void
  delete(name: string): void
  get(name: string): string | null
  getAll(name: string): Array<string>
  has(name: string): boolean
  set(name: string, value: string): void
  forEach(run: (value: string, name: string, params: URLSearchParams) => void): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  readonly size: number
  toString(): string
  [Symbol.iterator](): IterableIterator<[string, string]>
}
declare class URL {
  constructor(url: string | URL, base?: string | URL)
  static canParse(url: string | URL, base?: string | URL): boolean
  href: string
  readonly origin: string
  protocol: string
  username: string
  password: string
  host: string
  hostname: string
  port: string
  pathname: string
  search: string
  hash: string
  readonly searchParams: URLSearchParams
  toString(): string
  toJSON(): string
}

// With the permission 'network'. Without its permission a global does not exist.
declare class Headers {
  constructor(from?: Iterable<[string, string]> | { [name: string]: string } | null)
  append(name: string, value: string): void
  delete(name: string): void
  get(name: string): string | null
  has(name: string): boolean
  set(name: string, value: string): void
  forEach(run: (value: string, name: string, headers: Headers) => void): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  [Symbol.iterator](): IterableIterator<[string, string]>
}
interface AbortSignal {
  readonly aborted: boolean
  readonly reason: any
  throwIfAborted(): void
  addEventListener(type: "abort", listener: () => void): void
  removeEventListener(type: "abort", listener: () => void): void
}
declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: any): void
}
interface RequestOptions {
  method?: string
  headers?: Headers | Iterable<[string, string]> | { [name: string]: string }
  body?: string | ArrayBuffer | ArrayBufferView | URLSearchParams | null
  /** A redirect is followed for GET and HEAD to the same origin. */
  redirect?: "follow" | "manual" | "error"
  signal?: AbortSignal | null
}
declare class Request {
  constructor(from: string | URL | Request, options?: RequestOptions)
  url: string
  method: string
  headers: Headers
  redirect: string
  signal: AbortSignal | null
  readonly bodyUsed: boolean
  text(): Promise<string>
  json(): Promise<any>
  arrayBuffer(): Promise<ArrayBuffer>
}
declare class Response {
  constructor(
    body?: string | ArrayBuffer | ArrayBufferView | URLSearchParams | null,
    options?: { status?: number; statusText?: string; headers?: RequestOptions["headers"] }
  )
  status: number
  statusText: string
  headers: Headers
  url: string
  redirected: boolean
  readonly ok: boolean
  readonly bodyUsed: boolean
  text(): Promise<string>
  json(): Promise<any>
  arrayBuffer(): Promise<ArrayBuffer>
}
declare function fetch(from: string | URL | Request, options?: RequestOptions): Promise<Response>

// With 'file-read' and 'file-write'; paths are relative to the plugin's data folder.
type FileEncoding = "utf8" | "utf-8" | "base64"
declare const fs: {
  // 'file-read'
  readFile(path: string, options?: FileEncoding | { encoding?: FileEncoding }): Promise<string>
  readdir(path?: string): Promise<Array<string>>
  stat(path: string): Promise<FileFacts>
  // 'file-write'
  writeFile(
    path: string,
    data: string | ArrayBuffer | ArrayBufferView,
    options?: FileEncoding | { encoding?: FileEncoding }
  ): Promise<void>
  mkdir(path: string): Promise<void>
  rm(path: string, options?: { recursive?: boolean }): Promise<void>
}
interface FileFacts {
  readonly size: number
  readonly mtimeMs: number
  isFile(): boolean
  isDirectory(): boolean
}

// With 'env'.
declare const process: { readonly env: { readonly [name: string]: string | undefined } }

// With 'exec', and GATEWAY_PLUGINS_ALLOW_EXEC=1 in the environment of the gateway.
interface ProgramEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
declare const child_process: {
  exec(program: string, args?: Array<string>, options?: { input?: string }): Promise<ProgramEnd>
  execSync(program: string, args?: Array<string>, options?: { input?: string }): ProgramEnd
}
`
