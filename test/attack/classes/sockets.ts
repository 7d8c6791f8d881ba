/** Frames that no client of the responses wire would send. Each must end in an error frame or a closed socket, and the process must go on. */
import { randomBytes } from "node:crypto"
import { WebSocket } from "ws"
import type { Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"
import { raw } from "../RawHttp.ts"

const patienceMs = 15_000

const frames: Readonly<Record<string, string | Buffer>> = {
  "no JSON": "hello",
  "an empty frame": "",
  "a number": "1",
  null: "null",
  "a list": "[]",
  "an empty object": "{}",
  "another type": '{"type":"response.cancelled"}',
  "no model": '{"type":"response.create","input":[]}',
  "a model of 1 MB": JSON.stringify({ type: "response.create", model: "m".repeat(1_000_000), input: [] }),
  "a model as a list": '{"type":"response.create","model":["m"],"input":[]}',
  "20,000 levels": `{"type":"response.create","model":"m","input":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  "200,000 keys": `{"type":"response.create","model":"m","metadata":{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(",")}}}`,
  "32,000 wrong items": JSON.stringify({
    type: "response.create",
    model: "m",
    input: Array.from({ length: 32_000 }, () => 1)
  }),
  "a prototype": '{"type":"response.create","model":"m","input":[],"__proto__":{"polluted":"yes"}}',
  "bytes that are no text": Buffer.from([0xff, 0xfe, 0xfd]),
  "a binary frame": randomBytes(4_096),
  "an earlier answer of another":
    '{"type":"response.create","model":"m","input":[],"previous_response_id":"resp_of_another"}'
}

const paths = ["/v1/responses", "/responses"]

const alive = async ({ open }: Arena): Promise<Verdict> => {
  const { status, text } = await open.send({ path: "/api/health/ping" })
  if (text.includes("polluted")) return "the prototype of all objects was changed"
  return status === 200 ? null : `the process answers ${status}`
}

/** What comes back first: an error frame, or the end of the socket. */
const firstAnswer = (port: number, path: string, frame: string | Buffer): Promise<Verdict> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { handshakeTimeout: patienceMs })
    const timer = setTimeout(() => done("neither an error nor an end"), patienceMs)
    const done = (verdict: Verdict): void => {
      clearTimeout(timer)
      socket.terminate()
      resolve(verdict)
    }
    socket.on("open", () => socket.send(frame))
    socket.on("message", (data) => {
      const text = String(data)
      done(text.includes('"error"') ? null : `answered with ${text.slice(0, 120)}`)
    })
    socket.on("close", () => done(null))
    socket.on("error", () => done(null))
  })

const byFrame = pairs(paths, Object.entries(frames)).map(([path, [name, frame]]): Attempt => ({
  name: `${path}: ${name}`,
  run: async (arena) => (await firstAnswer(arena.open.port, path, frame)) ?? alive(arena)
}))

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`

/** Frames that break the protocol itself; written behind the handshake. */
const broken: Readonly<Record<string, Buffer>> = {
  "a frame without a mask": Buffer.from([0x81, 0x02, 0x7b, 0x7d]),
  "a frame with reserved bits": Buffer.from([0xf1, 0x80, 0, 0, 0, 0]),
  "an unknown kind of frame": Buffer.from([0x83, 0x80, 0, 0, 0, 0]),
  "a long control frame": Buffer.concat([Buffer.from([0x89, 0xfe, 0x00, 0xff, 0, 0, 0, 0]), Buffer.alloc(255)]),
  "a ping in pieces": Buffer.from([0x09, 0x80, 0, 0, 0, 0]),
  "a piece of nothing": Buffer.from([0x80, 0x80, 0, 0, 0, 0]),
  "a frame of eight exabytes": Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
  "a close without a reason's code": Buffer.from([0x88, 0x81, 0, 0, 0, 0, 0x01])
}

const byBreach = pairs(paths, Object.entries(broken)).map(([path, [name, bytes]]): Attempt => ({
  name: `${path}: ${name}`,
  run: async (arena) => {
    const text = await raw(
      arena.open.port,
      Buffer.concat([Buffer.from(upgrade(path)), bytes]),
      (seen) => seen.includes("\r\n\r\n") && seen.length > seen.indexOf("\r\n\r\n") + 4
    )
    return text.startsWith("HTTP/1.1") ? alive(arena) : `answered with ${text.slice(0, 80)}`
  }
}))

export const sockets: AttackClass = {
  name: "hostile frames on sockets",
  atOnce: 4,
  attempts: [...byFrame, ...byBreach]
}
