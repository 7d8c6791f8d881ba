/**
 * Files of the machine that capture changes, as copies that this mount namespace alone sees: hosts, name servers, the trust store with Java's, and
 * what the package manager writes when the store is rebuilt. And a name server whose answers a test chooses.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { createSocket } from "node:dgram"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { insist, rulesNow } from "./Namespace.ts"

export const trustSlots = "/usr/local/share/ca-certificates"
const links = "/etc/ssl/certs"
export const bundle = join(links, "ca-certificates.crt")
const javaStore = join(links, "java/cacerts")
/** Of the test's own name server; on loopback, where nothing is captured. */
const nameServer = "127.0.0.53"

export const hostsBytes = "127.0.0.1\tlocalhost\r\n::1 localhost\n# of the machine\n10.0.0.7 intranet.example"

const sh = (command: string): string => execFileSync("sh", ["-c", command], { encoding: "utf8" })

/** Once per process. */
export const ownMachine = (): void => {
  insist()
  const folder = mkdtempSync(join(tmpdir(), "gateway-machine-"))
  const copied = [links, trustSlots, "/var/lib/ca-certificates-java", "/var/lib/dpkg"]
  for (const [at, path] of copied.entries()) {
    // Without rights some files cannot be read; they are not needed.
    sh(`[ -d ${path} ] || exit 0
      cp -r --preserve=mode,timestamps,links ${path} ${folder}/${at} 2>/dev/null
      mount --bind ${folder}/${at} ${path}`)
  }
  mkdirSync(join(folder, "log"))
  sh(`mount --bind ${folder}/log /var/log`)
  for (const [name, text] of [
    ["hosts", hostsBytes],
    ["resolv.conf", `nameserver ${nameServer}\noptions timeout:2 attempts:2\n`],
    ["nsswitch.conf", "hosts: files dns\npasswd: files\ngroup: files\n"],
    // What keeps Java's store reads it, and on Debian only root may: without rights the store would not change.
    ["default/cacerts", "cacerts_updates=yes\nstorepass='changeit'\n"]
  ] as const) {
    const copy = join(folder, name.replaceAll("/", "-"))
    writeFileSync(copy, text)
    sh(`[ ! -e /etc/${name} ] || mount --bind ${copy} /etc/${name}`)
  }
}

export const hasJava = (): boolean => {
  try {
    execFileSync("keytool", ["-list", "-keystore", javaStore, "-storepass", "changeit"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Aliases of Java's store that have to do with the gateway. */
export const javaAliases = (): ReadonlyArray<string> =>
  execFileSync("keytool", ["-list", "-keystore", javaStore, "-storepass", "changeit"], {
    encoding: "utf8",
    // It would like another option for the same file.
    stdio: ["ignore", "pipe", "ignore"]
  })
    .split("\n")
    .filter((line) => /gateway/iu.test(line))

const contents = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name)
      const found = lstatSync(path)
      if (found.isDirectory()) return []
      if (found.isSymbolicLink()) return [`${path} -> ${readlinkSync(path)}`]
      return [`${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`]
    })

/** Rules and files that capture changes, as text. */
export const filesNow = (): string =>
  [rulesNow(), JSON.stringify(readFileSync("/etc/hosts", "latin1")), ...contents(links), ...contents(trustSlots)].join(
    "\n"
  )

/** All that capture may have left on the machine. Java's store is compared by its aliases: its file has the times of changes in it. */
export const machineNow = (): string => [filesNow(), ...(hasJava() ? javaAliases() : [])].join("\n")

/** The question's name and kind (RFC 1035, 4.1), and where the question ends. */
const readQuestion = (message: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  for (;;) {
    const length = message[at] ?? 0
    at += 1
    if (length === 0) break
    labels.push(message.toString("latin1", at, at + length))
    at += length
  }
  return { name: labels.join(".").toLowerCase(), kind: message.readUInt16BE(at), end: at + 4 }
}

const bytesOf = (address: string): Buffer => {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number))
  const [head = "", tail = ""] = address.split("::")
  const parts = (text: string): ReadonlyArray<string> => text.split(":").filter((part) => part !== "")
  const zeros = Array.from({ length: 8 - parts(head).length - parts(tail).length }, () => "0")
  return Buffer.from([...parts(head), ...zeros, ...parts(tail)].map((part) => part.padStart(4, "0")).join(""), "hex")
}

/** A name server with A and AAAA records. Names that are not there do not exist. */
export const startNameServer = async (
  records: Readonly<Record<string, { readonly v4: string; readonly v6: string }>>
): Promise<() => void> => {
  const socket = createSocket("udp4")
  socket.on("message", (message, from) => {
    const { end, kind, name } = readQuestion(message)
    const found = records[name]
    const address = found === undefined ? null : kind === 1 ? found.v4 : kind === 28 ? found.v6 : null
    const answer = Buffer.alloc(12)
    message.copy(answer, 0, 0, 2)
    answer.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2)
    answer.writeUInt16BE(1, 4)
    answer.writeUInt16BE(address === null ? 0 : 1, 6)
    const parts: Array<Uint8Array> = [answer, message.subarray(12, end)]
    if (address !== null) {
      const data = bytesOf(address)
      const record = Buffer.alloc(12)
      record.writeUInt16BE(0xc00c, 0)
      record.writeUInt16BE(kind, 2)
      record.writeUInt16BE(1, 4)
      record.writeUInt32BE(1, 6)
      record.writeUInt16BE(data.length, 10)
      parts.push(record, data)
    }
    socket.send(Buffer.concat(parts), from.port, from.address)
  })
  socket.bind(53, nameServer)
  await once(socket, "listening")
  return () => void socket.close()
}
