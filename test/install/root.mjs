/**
 * An empty Debian root with Node 22 and nothing else, made by debootstrap: `node test/install/root.mjs [package] [image]`, as root. `package` installs the
 * packed file there and goes to a first answer; `image` does what the Dockerfile says, line by line, and starts what it has made as its user on a root that
 * cannot be written to. Where debootstrap or Debian's packages cannot be had, that is said and nothing is tested. Not a part of `.ci/run`: a base takes a minute
 * and much of the network. `docs/releasing.md` names it as a step of a release.
 */
import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { pack } from "../../bin/release/stage.mjs"
import { nodeFolder, packageFolder, versions } from "./nodePackages.mjs"

const project = fileURLToPath(new URL("../..", import.meta.url))
const cache = join(project, "node_modules/.cache/root")
const npmVersion = "10.9.4"
const say = (text) => process.stdout.write(`${text}\n`)

const must = (program, args, options = {}) => {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stderr}${stdout}`)
  return stdout
}

/** Address of Debian's packages, as this machine has it. */
const mirror = () => {
  const files = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"].filter((file) => existsSync(file))
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n")
  return /^(?:URIs:|deb)\s+(?:\[[^\]]*\]\s+)?(https?:\S+)/m.exec(text)?.[1]
}

/** The base of all roots, kept; null when it cannot be made here. */
const base = () => {
  const folder = join(cache, "bookworm")
  if (existsSync(join(folder, "ready"))) return folder
  const address = mirror()
  if (process.getuid() !== 0 || address === undefined || spawnSync("which", ["debootstrap"]).status !== 0) return null
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const made = spawnSync("debootstrap", ["--variant=minbase", "bookworm", folder, address], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  if (made.status !== 0) return null
  writeFileSync(join(folder, "ready"), "")
  return folder
}

/** A copy of the base with Node and npm, as the image of Node has them: with a user of the name `node`. */
const withNode = (from, folder) => {
  must("cp", ["-a", from, folder])
  rmSync(join(folder, "ready"))
  const bin = nodeFolder(versions[22])
  const npm = packageFolder("npm", npmVersion)
  if (bin === null || npm === null) return null
  cpSync(join(bin, "node"), join(folder, "usr/local/bin/node"))
  cpSync(npm, join(folder, "usr/local/lib/node_modules/npm"), { recursive: true })
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(folder, "usr/local/bin/npm"))
  for (const file of ["/etc/resolv.conf", process.env.NODE_EXTRA_CA_CERTS].filter(Boolean)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(file, join(folder, file), { dereference: true })
  }
  must("chroot", [folder, "groupadd", "--gid", "1000", "node"])
  must("chroot", [folder, "useradd", "--uid", "1000", "--gid", "node", "--create-home", "node"])
  return folder
}

const plain = () => ({
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  npm_config_registry: must("npm", ["config", "get", "registry"], { cwd: project }).trim(),
  ...(process.env.NODE_EXTRA_CA_CERTS === undefined ? {} : { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS })
})

/** An upstream that answers as OpenAI does. */
const upstream = async () => {
  const server = createServer((request, response) => {
    request.resume()
    const isList = request.url.endsWith("/models")
    const message = { role: "assistant", content: "Hello from your first provider." }
    const usage = { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 }
    const answer = isList
      ? { object: "list", data: [{ id: "gpt-4o-mini", object: "model", owned_by: "openai", created: 1 }] }
      : {
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "gpt-4o-mini",
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage
        }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() }
}

/** Runs a server until `use` has ended. */
const serving = async (program, args, options, use) => {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], ...options })
  const ended = once(child, "close")
  try {
    let url
    for await (const line of createInterface(child.stdout)) {
      url = /Gateway listening on (\S+)/.exec(line)?.[1]
      if (url !== undefined) break
    }
    if (url === undefined) throw new Error("It ended before it listened.")
    child.stdout.resume()
    await use(url)
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

const firstAnswer = async (folder) => {
  const work = mkdtempSync(join(tmpdir(), "gateway-packed-"))
  const { filename, size } = pack(project, work)
  cpSync(join(work, filename), join(folder, "opt", filename))
  rmSync(work, { recursive: true })
  for (const compiler of ["cc", "c++", "make", "python3"]) {
    if (spawnSync("chroot", [folder, "sh", "-c", `command -v ${compiler}`]).status === 0)
      throw new Error(`The root has ${compiler}.`)
  }
  const env = plain()
  const provider = await upstream()
  const begun = performance.now()
  const install = spawnSync("chroot", [folder, "npm", "install", "--global", `/opt/${filename}`], {
    encoding: "utf8",
    env
  })
  if (install.status !== 0 || /warn|deprecated|gyp/i.test(install.stderr))
    throw new Error(`npm says:\n${install.stderr}`)
  const installed = performance.now()
  try {
    await serving("chroot", [folder, "gateway", "serve", "--no-open", "--port", "20379"], { env }, async (url) => {
      // Not waited for with the event loop: the upstream has to answer.
      const command = async (args) => {
        const variables = { ...env, PORT: "20379", KEY: "sk-first-0123456789" }
        return (await promisify(execFile)("chroot", [folder, "gateway", ...args], { env: variables })).stdout
      }
      await command(["provider", "add", "openai", "--api-key-env", "KEY", "--base-url", provider.url])
      const said = await command(["chat", "--model", "openai/gpt-4o-mini", "Hello"])
      if (!said.includes("Hello from your first provider.")) throw new Error(`${url} says:\n${said}`)
    })
  } finally {
    provider.close()
  }
  const seconds = (from, to) => ((to - from) / 1000).toFixed(1)
  const now = performance.now()
  say(
    `package: ${size} bytes, installed in ${seconds(begun, installed)} s, first answer after ${seconds(begun, now)} s`
  )
}

/** Instructions of a Dockerfile, with lines that go on joined. */
const instructions = (text) =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => /^(\S+)\s+(.*)$/.exec(line).slice(1))

/** Copies as COPY does: a folder's content into a folder, a file into a folder or to a name. */
const copy = (from, to, isFolder) => {
  mkdirSync(isFolder ? to : dirname(to), { recursive: true })
  must("cp", ["-a", ...from, to])
}

const contextFolder = (folder) => {
  mkdirSync(folder)
  const left = readFileSync(join(project, ".dockerignore"), "utf8").split("\n").filter(Boolean)
  const files = must("git", ["ls-files", "-z"], { cwd: project })
    .split("\0")
    .filter((file) => file !== "" && !left.some((one) => file === one || file.startsWith(`${one}/`)))
  must("cp", ["-a", "--parents", ...files, folder], { cwd: project })
  return folder
}

const copied = (stage, context, words) => {
  const source = words[0].startsWith("--from=") ? stage.stages[words.shift().slice(7)].folder : context
  const to = words.pop()
  const target = join(stage.folder, to.startsWith("/") ? to : join(stage.cwd, to))
  const all = words.map((word) => join(source, word))
  const isIntoFolder = to.endsWith("/") || words.length > 1 || words[0] === "."
  copy(words[0] === "." ? [`${source}/.`] : all, target, isIntoFolder)
}

const steps = {
  ENV: (stage, rest) =>
    Object.assign(stage.env, Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split(/=(.*)/s).slice(0, 2)))),
  WORKDIR: (stage, rest) => {
    stage.cwd = rest
    mkdirSync(join(stage.folder, rest), { recursive: true })
  },
  COPY: (stage, rest, context) => copied(stage, context, rest.split(/\s+/)),
  RUN: (stage, rest) => {
    const begun = performance.now()
    must("chroot", [stage.folder, "sh", "-c", `cd ${stage.cwd} && ${rest}`], { env: { ...plain(), ...stage.env } })
    say(`image: RUN ${rest.slice(0, 60)}: ok in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  },
  USER: (stage, rest) => (stage.user = rest),
  HEALTHCHECK: (stage, rest) => (stage.health = rest.replace(/^.*?CMD /, "")),
  CMD: (stage, rest) => (stage.command = JSON.parse(rest)),
  ARG: () => {},
  LABEL: () => {},
  VOLUME: () => {},
  EXPOSE: () => {},
  STOPSIGNAL: () => {}
}

const builtImage = (from, folder) => {
  const context = contextFolder(join(folder, "context"))
  const stages = {}
  let stage
  for (const [name, rest] of instructions(readFileSync(join(project, "Dockerfile"), "utf8"))) {
    if (name === "FROM") {
      const label = / AS (\S+)$/.exec(rest)?.[1] ?? "last"
      stage = { folder: withNode(from, join(folder, label)), stages, cwd: "/", env: {}, user: "root" }
      stages[label] = stage
    } else if (steps[name] === undefined && stage !== undefined) throw new Error(`${name} is not known here.`)
    else if (stage !== undefined) steps[name](stage, rest, context)
  }
  return stage
}

/** Starts the image's command as its user, on a root that cannot be written to but for the volume and `/tmp`. */
const started = async ({ command, cwd, env, folder, health, user }) => {
  const root = must("mktemp", ["-d"]).trim()
  const mounts = [
    `mount --bind ${folder} ${root}`,
    `mount -o remount,ro,bind ${root}`,
    `mount --bind ${folder}/data ${root}/data`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t proc proc ${root}/proc`
  ]
  const line = `${mounts.join(" && ")} && exec chroot --userspec=${user} ${root} env -C ${cwd} ${command.join(" ")}`
  const port = "20381"
  const variables = { ...env, PORT: port, PATH: plain().PATH, HOME: "/tmp", REQUIRE_API_KEY: "true" }
  await serving("unshare", ["--mount", "sh", "-c", line], { env: variables }, async () => {
    for (let tries = 0; ; tries++) {
      const asked = spawnSync("chroot", [`--userspec=${user}`, folder, "sh", "-c", health], { env: variables })
      if (asked.status === 0) break
      if (tries === 20) throw new Error(`The health check ends with ${asked.status}: ${asked.stderr}`)
      await pause(250)
    }
    const refused = await fetch(`http://127.0.0.1:${port}/v1/models`)
    if (refused.status !== 401) throw new Error(`/v1/models answers ${refused.status} without a key.`)
  })
  rmSync(root, { recursive: true })
}

const packedBytes = (folder) => Number(must("sh", ["-c", `tar -C ${folder} -c . | gzip -6 | wc -c`]).trim())

const image = async (from, folder) => {
  const stage = builtImage(from, folder)
  await started(stage)
  const unpacked = Number(must("du", ["-sm", stage.folder]).split("\t")[0])
  const megabytes = Math.round(packedBytes(stage.folder) / 1e6)
  say(
    `image: starts as ${stage.user} on a read-only root and is healthy; ${megabytes} MB packed, ${unpacked} MB on the disk`
  )
  if (megabytes > 180) throw new Error("It is larger than 180 MB.")
}

const wanted = process.argv.slice(2)
const from = base()
if (from === null) {
  say("No empty Debian root can be made here: it needs root, debootstrap and Debian's packages. Nothing was tested.")
} else {
  const work = mkdtempSync(join(tmpdir(), "gateway-roots-"))
  try {
    const isWanted = (name) => wanted.length === 0 || wanted.includes(name)
    if (isWanted("package")) await firstAnswer(withNode(from, join(work, "package")))
    if (isWanted("image")) await image(from, work)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
