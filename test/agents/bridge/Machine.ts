/**
 * The machine that the agents of this folder run on: a network namespace whose internet is one address, and an `/etc` that is thrown away with it.
 * Names are told by a name server of its own, so that the gateway finds the real hosts of vendors past the hosts file.
 */
import { execFileSync } from "node:child_process"
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { readlinkSync, writeFileSync } from "node:fs"

/** Where all servers of vendors are. */
export const internet = "10.88.0.10"
const nameServer = "10.88.0.53"

/** The hosts file at first. */
export const hosts = "127.0.0.1 localhost\n::1 localhost\n"

const sh = (command: string): string => execFileSync("sh", ["-ec", command], { encoding: "utf8" })

/** The gateway changes the hosts file and the trust store: never outside of namespaces of their own. */
const insist = (): void => {
  const parent = process.env["PARENT_NETNS"]
  if (parent === undefined || parent === "" || parent === readlinkSync("/proc/self/ns/net")) {
    throw new Error("Start these tests with 'npm run test:bridge': they need namespaces of their own.")
  }
}

/** The question's name and the end of the question, which is copied into the answer (RFC 1035, 4.1). */
const questionOf = (packet: Buffer): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: Array<string> = []
  let at = 12
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString("latin1", at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join(".").toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 }
}

const answerTo = (packet: Buffer, knows: (name: string) => boolean): Buffer => {
  const { end, name, type } = questionOf(packet)
  const isKnown = knows(name)
  const hasAddress = isKnown && type === 1
  const head = Buffer.alloc(12)
  packet.copy(head, 0, 0, 2)
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(hasAddress ? 1 : 0, 6)
  const address = Buffer.from(internet.split(".").map(Number))
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address])
  return Buffer.concat([head, packet.subarray(12, end), ...(hasAddress ? [answer] : [])])
}

/** Makes the machine; its names are those that are `known`, all others do not exist. */
export const prepare = async (known: ReadonlyArray<string>): Promise<Socket> => {
  insist()
  sh(`ip link set lo up
    ip addr replace ${internet}/32 dev lo
    ip addr replace ${nameServer}/32 dev lo
    layers=$(mktemp -d)
    mount -t tmpfs tmpfs "$layers"
    for folder in etc usr/local; do
      mkdir -p "$layers/$folder/up" "$layers/$folder/work"
      mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$layers/$folder/up,workdir=$layers/$folder/work" "/$folder"
    done`)
  writeFileSync("/etc/hosts", hosts)
  writeFileSync("/etc/resolv.conf", `nameserver ${nameServer}\noptions timeout:1 attempts:1\n`)
  writeFileSync("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
  const server = createSocket("udp4")
  server.on("message", (packet, { address, port }) =>
    server.send(
      answerTo(packet, (name) => known.includes(name)),
      port,
      address
    )
  )
  server.bind(53, nameServer)
  await once(server, "listening")
  return server
}
