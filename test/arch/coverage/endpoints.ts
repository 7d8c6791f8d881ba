/** Where each route of the inference plane is shown. A route without a row does not compile. */
import type { EdgeRoute } from "../../../src/contract/EdgeRoutes.ts"
import type { Shown } from "./Shown.ts"

const sdkPairs = "test/sdk/pairs.test.ts"
const wires = "test/http/inference/wires.test.ts"
const endpoints = "test/http/inference/endpoints.test.ts"
const models = "test/http/inference/models.test.ts"
const files = "test/http/files/files.test.ts"
const batches = "test/http/batches/batches.test.ts"
const count = "test/http/inference/count.test.ts"
const videosSdk = "test/sdk/videos.test.ts"
const jobs = "test/http/media/jobs.test.ts"
const background = "test/http/inference/background.test.ts"
const rank = "test/http/media/rank.test.ts"
const search = "test/http/search/search.test.ts"
const searchPolicies = "test/http/search/policies.test.ts"
const mcp = "test/http/mcp/door.test.ts"
const embeddings = "test/http/media/embeddings.test.ts"
const imageEdits = "test/http/media/imageEdits.test.ts"
const transcriptions = "test/http/media/transcriptions.test.ts"

export interface EndpointRow {
  readonly what: string
  readonly tests: ReadonlyArray<Shown>
}

const row = (what: string, ...tests: ReadonlyArray<Shown>): EndpointRow => ({ what, tests })

export const endpointRows: Readonly<Record<EdgeRoute["key"], EndpointRow>> = {
  "inference.chat": row(
    "Chat completions, whole and streamed",
    [
      sdkPairs,
      "text, whole",
      "text, streamed, with usage when asked for",
      "a tool call, whole and streamed, and its result on the next turn"
    ],
    ["test/sdk/webSearch.test.ts", "OpenAI's chat, answered by ${model}, whole and streamed"]
  ),
  "inference.completions": row("Text completions", [endpoints, "are recorded like chat, and name what was dropped"]),
  "inference.messages": row(
    "Messages",
    [sdkPairs, "text, streamed", "an upstream's error raises the SDK's own error class with the upstream's words"],
    ["test/sdk/webSearch.test.ts", "Anthropic's, answered by ${model}, whole and streamed"]
  ),
  "inference.responses": row(
    "Responses",
    ["test/http/inference/compliance.test.ts", "${name}, ${wire} upstream"],
    ["test/sdk/webSearch.test.ts", "OpenAI's responses, answered by ${model}, whole and streamed"]
  ),
  "inference.gemini": row(
    "Google's methods: content, streams, tokens, embeddings",
    [wires, "errors have each wire's own shape"],
    [count, "Gemini's whole request inside the count is understood"],
    [embeddings, "are had with Google's SDK"],
    ["test/sdk/webSearch.test.ts", "Google's, answered by ${model}, whole and streamed"]
  ),
  "inference.ollamaChat": row("The local runner's chat", [wires, "streams to Ollama clients are lines of JSON"]),
  "inference.ollamaGenerate": row("The local runner's answer to a text", [
    wires,
    "streams to Ollama clients are lines of JSON"
  ]),
  "inference.ollamaShow": row("What is known of a model, for the local runner's clients", [
    models,
    "tell Google's and Ollama's clients the same"
  ]),
  "inference.countTokens": row("Tokens of a messages request", [count, "counts system, tools, tool calls and results"]),
  "inference.countResponseTokens": row("Tokens of a responses request", [count, "${client} client, ${wire} upstream"]),
  "inference.embeddings": row(
    "Embeddings",
    [endpoints, "the official SDK gets the format it asked for"],
    [embeddings, "are asked for in parts, and answered as one"]
  ),
  "inference.cohereEmbed": row("Embeddings, as Cohere's clients ask", [embeddings, "are had with Cohere's SDK"]),
  "inference.ollamaEmbed": row("Embeddings, as the local runner's clients ask", [
    embeddings,
    "are had with Ollama's SDK, of one text and of several"
  ]),
  "inference.ollamaEmbeddings": row("The same, of one text", [
    embeddings,
    "are had with Ollama's SDK, of one text and of several"
  ]),
  "inference.rerank": row("Order documents", [
    rank,
    "asks Cohere at its own path and answers in one form",
    "goes on at a provider of another form, with one usage row"
  ]),
  "inference.moderations": row("Look for harmful content", [
    rank,
    "is what the official SDK expects, costs nothing and has a row"
  ]),
  "inference.search": row(
    "Searches of the web",
    [
      search,
      "asks a provider in its own form and answers in the gateway's",
      "goes to the provider of the best priority, and to the next when it fails",
      "does not go on from a provider that was named"
    ],
    [
      searchPolicies,
      "are given again without a call",
      "wait for one call, which is paid for once",
      "refuse a search over the budget before it is sent"
    ]
  ),
  "inference.searchProviders": row("Search providers and what they can", [search, "lists providers and what they can"]),
  "inference.searchAnalytics": row("What searches have done at each provider", [
    searchPolicies,
    "count failures at the provider that failed, and show keys their own",
    "survive a restart"
  ]),
  "inference.speech": row("Speech, streamed as it comes", [
    "test/http/media/speech.test.ts",
    "gives the official SDK the upstream's bytes, with their cost by characters",
    "is cut where the upstream cuts it, and is no success"
  ]),
  "inference.images": row("Pictures, whole and streamed", [
    "test/http/media/images.test.ts",
    "gives the official SDK the upstream's own bytes, with their cost by size and quality",
    "streams partial pictures as they come, up to the last one"
  ]),
  "inference.transcriptions": row("Transcriptions: whole, as text, as subtitles, streamed", [
    transcriptions,
    "gives the official SDK the upstream's answer to a recording that is kept ${size}",
    "makes every format of a Deepgram answer",
    "streams deltas to the official SDK, with the usage of their end"
  ]),
  "inference.translations": row("Transcriptions into English", [
    transcriptions,
    "translations have a path of their own"
  ]),
  "inference.videos": row("Films: the provider's job is submitted, polled and fetched", [
    "test/http/media/videos.test.ts",
    "submits a job, waits for it and answers with what was made",
    "goes on at the next target after ${what}",
    "cancels the job at the provider when the client leaves"
  ]),
  "inference.createVideo": row("The same, as OpenAI's clients begin one", [
    videosSdk,
    "begins, shows, lists, fetches and deletes films",
    "takes the picture that a film begins with, as a file and as an address",
    "says what is wrong with a request"
  ]),
  "inference.videoJobs": row("Jobs that make films", [
    videosSdk,
    "begins, shows, lists, fetches and deletes films",
    "lists the jobs of a key alone, in pages"
  ]),
  "inference.music": row("Music, in the same way", [
    "test/http/media/music.test.ts",
    "submits a job, waits for it and answers with what was made"
  ]),
  "inference.imageEdits": row("Pictures that are changed, whole and streamed", [
    imageEdits,
    "sends several pictures and a mask of the official SDK on, at the cost of their answer",
    "streams partial pictures, up to the last one",
    "takes JSON that names pictures by address"
  ]),
  "inference.imageVariations": row("Variations of a picture", [imageEdits, "varies a picture at a path of its own"]),
  "inference.video": row("A job that makes a film, as it stands", [
    jobs,
    "answers at once, and tells how the job stands until it is made"
  ]),
  "inference.deleteVideo": row("End such a job", [jobs, "is cancelled at the provider, and forgotten when it is over"]),
  "inference.cancelVideo": row("The same, of one that runs", [
    jobs,
    "is cancelled at the provider, and forgotten when it is over"
  ]),
  "inference.videoContent": row("The bytes of a film", [
    jobs,
    "passes through bytes that only the provider's credential opens",
    "refuses and cuts bytes beyond the limit"
  ]),
  "inference.song": row("A job that makes music, as it stands", [jobs, "is the same for music"]),
  "inference.deleteSong": row("End such a job", [jobs, "is the same for music"]),
  "inference.cancelSong": row("The same, of one that runs", [jobs, "is the same for music"]),
  "inference.songContent": row("The bytes of music", [jobs, "is the same for music"]),
  "inference.response": row("A response that was made in the background, as it stands", [
    background,
    "is asked about at the connection that made it: its state, its items, its end"
  ]),
  "inference.responseItems": row("What it was asked", [
    background,
    "is asked about at the connection that made it: its state, its items, its end"
  ]),
  "inference.cancelResponse": row("End it at its provider", [
    background,
    "is asked about at the connection that made it: its state, its items, its end"
  ]),
  "inference.deleteResponse": row("Delete it at its provider", [background, "is on the bill before it is deleted"]),
  "inference.models": row("The models a caller may use", [
    models,
    "show a key what it may use",
    "are paged as each pager asks"
  ]),
  "inference.model": row("One model", [models, "speak of one model by any of its spellings"]),
  "inference.geminiModels": row("The same list, as Google's clients read it", [
    models,
    "tell Google's and Ollama's clients the same"
  ]),
  "inference.geminiModel": row("One model of it", [models, "speak of one model by any of its spellings"]),
  "inference.ollamaTags": row("The same list, as the local runner's clients read it", [
    wires,
    "listings speak each wire's own words"
  ]),
  "inference.ollamaVersion": row("The version of that wire", [wires, "listings speak each wire's own words"]),
  "inference.ollamaPs": row("Its models in memory: all", [wires, "listings speak each wire's own words"]),
  "inference.providerManifest": row("The registry, for other routers", [
    models,
    "stand beside the provider manifest, which tells nothing of accounts"
  ]),
  "inference.embeddingModels": row("The models that make embeddings", [endpoints, "their models are listed"]),
  "inference.imageModels": row("The models that make pictures", [
    "test/http/media/images.test.ts",
    "lists the models that make pictures"
  ]),
  "inference.videoModels": row("The models that make films", [
    "test/http/media/videos.test.ts",
    "lists the models that make films, and those that make music"
  ]),
  "inference.musicModels": row("The models that make music", [
    "test/http/media/videos.test.ts",
    "lists the models that make films, and those that make music"
  ]),
  "inference.providerModels": row("The models of one provider", [
    endpoints,
    "add the prefix, and serve no other provider's model"
  ]),
  "inference.editor": row("The address with the key in it, for editors", [
    endpoints,
    "open the same routes by the same gate"
  ]),
  "inference.handshake": row("Whether a WebSocket would be let in", [
    endpoints,
    "the handshake question is judged like an upgrade"
  ]),
  "inference.createBatch": row(
    "Make a batch",
    [
      batches,
      "OpenAI's client makes a batch and reads its output",
      "lines that are broken fail with a reason each, and the others run",
      "what asks for a batch that cannot be is refused by its field",
      "a line over the budget fails, and the batch goes on"
    ],
    [
      "test/faults/program/batches.slow.test.ts",
      "goes on after every kill: no line twice, none missing, the counts right"
    ]
  ),
  "inference.batches": row("List batches", [batches, "another key's batch does not exist"]),
  "inference.batch": row("One batch", [batches, "OpenAI's client makes a batch and reads its output"]),
  "inference.cancelBatch": row("Cancel a batch", [
    batches,
    "a batch is cancelled with its calls under way, once, and deleted when it is over"
  ]),
  "inference.deleteBatch": row("Delete a batch", [
    batches,
    "a batch is cancelled with its calls under way, once, and deleted when it is over"
  ]),
  "inference.createFile": row("Upload a file", [
    files,
    "OpenAI's client uploads, lists, reads and deletes",
    "a file over the limit is refused by its length, and cut off when that lied"
  ]),
  "inference.files": row("The files of a key", [
    files,
    "another key's file does not exist, and callers without a key share theirs"
  ]),
  "inference.file": row("One file", [files, "OpenAI's client uploads, lists, reads and deletes"]),
  "inference.deleteFile": row("Delete a file", [files, "OpenAI's client uploads, lists, reads and deletes"]),
  "inference.fileContent": row("Its content, also in part", [files, "ranges that cannot be met are 416"]),
  "system.metrics": row("Counters for Prometheus", [
    "test/http/doors/foreignSites.test.ts",
    "a rebound name does not read the metrics; a key of the scope does, and metricsPublic opens them"
  ]),
  "mcp.sendMessage": row("Messages to the MCP server", [mcp, "speaks with the official client"]),
  "mcp.listen": row("Messages of the MCP server", [mcp, "tells listeners that it stops"]),
  "mcp.endSession": row("The end of an MCP session", [mcp, "ends a session, and knows it no more"]),
  "a2a.askAgent": row("The agent for other agents", [
    "test/http/a2a/agent.test.ts",
    "answers the official client in both versions of the protocol"
  ]),
  "scim.config": row("What the service provider of SCIM does", [
    "test/http/scim/discovery.test.ts",
    "tells what it does, and which resources and attributes there are"
  ]),
  "scim.resourceTypes": row("Kinds of resources", [
    "test/http/scim/discovery.test.ts",
    "tells what it does, and which resources and attributes there are"
  ]),
  "scim.resourceType": row("One kind of resources", [
    "test/http/scim/discovery.test.ts",
    "tells what it does, and which resources and attributes there are"
  ]),
  "scim.schemas": row("Schemas", [
    "test/http/scim/discovery.test.ts",
    "tells what it does, and which resources and attributes there are"
  ]),
  "scim.schema": row("One schema", [
    "test/http/scim/discovery.test.ts",
    "tells what it does, and which resources and attributes there are"
  ]),
  "scim.listUsers": row("People of a directory, by filters and pages", [
    "test/http/scim/users.test.ts",
    "are found by filters, a page at a time"
  ]),
  "scim.createUser": row("A person that a directory pushes", [
    "test/http/scim/users.test.ts",
    "are made, shown, replaced and removed"
  ]),
  "scim.getUser": row("One of them", ["test/http/scim/users.test.ts", "are made, shown, replaced and removed"]),
  "scim.replaceUser": row("A person as the directory has it now", [
    "test/http/scim/users.test.ts",
    "are made, shown, replaced and removed"
  ]),
  "scim.patchUser": row("Changes of a person", [
    "test/http/scim/users.test.ts",
    "are changed as Entra and Okta write it"
  ]),
  "scim.removeUser": row("A person who has left", [
    "test/http/scim/users.test.ts",
    "are made, shown, replaced and removed"
  ]),
  "scim.listGroups": row("Groups of a directory, by filters and pages", [
    "test/http/scim/groups.test.ts",
    "are found by name, id and member, a page at a time"
  ]),
  "scim.createGroup": row("A group that a directory pushes: a team", [
    "test/http/scim/groups.test.ts",
    "are teams, whose members are changed as Entra and Okta write it"
  ]),
  "scim.getGroup": row("One of them", [
    "test/http/scim/groups.test.ts",
    "are teams, whose members are changed as Entra and Okta write it"
  ]),
  "scim.replaceGroup": row("A group as the directory has it now", [
    "test/http/scim/groups.test.ts",
    "are teams, whose members are changed as Entra and Okta write it"
  ]),
  "scim.patchGroup": row("Changes of a group and its members", [
    "test/http/scim/groups.test.ts",
    "are teams, whose members are changed as Entra and Okta write it"
  ]),
  "scim.removeGroup": row("A group that is no more", [
    "test/http/scim/groups.test.ts",
    "are teams, whose members are changed as Entra and Okta write it"
  ]),
  "system.dashboard": row("Pages of the dashboard, and their files", [
    "test/http/doors/dashboard.test.ts",
    "every path below it answers the shell, and files are kept for good"
  ]),
  "system.root": row("Whether the gateway is there", [
    "test/http/doors/pages.test.ts",
    "pages are shown to browsers, and programs get JSON as before"
  ])
}
