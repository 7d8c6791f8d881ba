/** Shared parts of the tests that call every documented operation: the order, the refusals of a test's gateway, and the upstream behind it. */
import * as FakeUpstream from "./FakeUpstream.ts"

/** Operations that others need, to be called first. */
const first = [
  "pluginsInstallOffer",
  "authLogin",
  // Before the examples of the settings turn the agent off.
  "pagesAskAgent",
  "providerNodesCreate",
  "providersCreate",
  "usersCreate",
  "teamsCreate",
  "issuersCreate",
  "keysCreate",
  "registeredKeysRegister",
  "registeredKeysRegisterAtV1RegisteredKeys",
  "limitsSetBudget",
  "limitsSetTokenLimit",
  "combosCreate",
  "compressionCombosCreate",
  "modelAliasesSet",
  "providerModelsCreate",
  "quotaGroupsCreate",
  "webhooksCreate",
  "mcpServersCreate",
  "evalsStart",
  "evalsCreateSuite",
  "memoryCreate",
  "playgroundCreatePreset",
  "inferenceChat",
  "proxiesCreate",
  "inferenceCreateFile",
  "inferenceCreateBatch",
  // A session with one record, which is all that is captured until own traffic is.
  "inspectorStartSession",
  "inspectorIngest",
  "inspectorChangeSession",
  "inspectorSessionJsonl",
  "inspectorJsonl",
  "inspectorReplay"
]
const last = [
  "inspectorRemoveSession",
  "inspectorClear",
  "inferenceDeleteBatch",
  "inferenceDeleteFile",
  "compressionCombosRemove",
  "combosRemove",
  "modelAliasesRemove",
  "quotaGroupsRemove",
  "webhooksRemove",
  "proxiesRemove",
  "proxiesRemoveAtV1ManagementProxies",
  "mcpServersRemove",
  "evalsRemoveSuite",
  "memoryRemove",
  "playgroundRemovePreset",
  "providerModelsRemove",
  "limitsRemoveBudget",
  "limitsRemoveTokenLimit",
  "registeredKeysRemove",
  "registeredKeysRemoveAtV1RegisteredKeysId",
  "keysRemove",
  "issuersRemove",
  "teamsRemove",
  "usersRemove",
  "usersErase",
  "providersRemove",
  "providerNodesRemove",
  "pluginsRemove",
  "flagsClear",
  "authEndSessions",
  "authLogout",
  "signInLogout"
]

/** Operations in the order of their rank can all be called. */
export const rankOf = (operationId: string): number => {
  if (first.includes(operationId)) return first.indexOf(operationId) - first.length
  return last.includes(operationId) ? last.indexOf(operationId) + 1 : 0
}

/**
 * Operations that change the machine that the tests run on, or call the servers of the examples, and are never called
 * by them.
 */
export const changesMachine: ReadonlySet<string> = new Set(["agentBridgeStartTproxy", "inspectorReplayDirect"])

/** The same of commands. */
export const changesMachineBy = /\bcapture (?:tproxy start|cert trust|cert untrust|system-proxy apply|run\b)/

/** Operations that this gateway has to refuse, and why; the refusal has to be documented. */
export const refusedHere: Readonly<Record<string, string>> = {
  webhooksRetry: "no event was given up",
  teamsContent: "the team lets nobody see it",
  usersErase: "the person was removed just before",
  authIssueCode: "only the owner of the data folder may, and this test runs without the owner's token",
  authEndSession: "the example names a session of another gateway",
  authExchangeCode: "its code is made with the owner's token only",
  authSetPassword: "only the owner of the data folder may, and this test runs without the owner's token",
  backupsRestore: "the example names a backup of another gateway",
  backupsImport: "the example is no database",
  acpRemove: "no agent was added",
  captureEnableHost: "no host was added before by this example",
  captureRemoveHost: "no host was added before by this example",
  cliToolsSettings: "the gateway of the test has no home folder",
  cliToolsWriteSettings: "the gateway of the test has no home folder",
  clusterForget: "the gateway of the test has its database for itself",
  evalsCancel: "the run may be over",
  signInBegin: "the issuer of the example cannot be asked",
  signInLogout: "the session has just ended",
  loginsBegin: "no directory signs people in once the issuer of the example is removed",
  loginsLook: "the administrator of the test is no person",
  loginsAnswer: "the administrator of the test is no person",
  signInCallback: "no sign-in was begun whose browser comes back",
  oauthCallback: "no sign-in was begun whose browser comes back",
  issueReportsReport: "there is no tracker",
  issueReportsReportAtApiV1IssuesReport: "there is no tracker",
  inferenceCancelBatch: "the batch may be over",
  inferenceDeleteBatch: "the batch may not be over",
  proxiesFindFree: "no list of free proxies is named",
  proxiesFindFreeAtV1ManagementProxiesFree: "no list of free proxies is named",
  proxiesCreateAtV1ManagementProxies: "the other spelling of the path has added it",
  proxiesRemoveAtV1ManagementProxies: "the other spelling of the path may have removed it",
  rtkRawOutput: "no request was compressed",
  tunnelsEnableMesh: "the gateway of the test requires no API key",
  systemRestart: "the gateway is a part of the test",
  syncAct: "there is no server to synchronise with",
  syncInitialize: "there is no server to synchronise with",
  pagesListen: "no session is named",
  listenAtApiMcpStream: "no session is named",
  pagesEndSession: "no session is named",
  endSessionAtApiMcpStream: "no session is named"
}

/** Answers of a provider to each kind of request, in OpenAI's forms. */
export const upstreamAnswer = (request: FakeUpstream.RecordedRequest): FakeUpstream.Answer => {
  if (request.url.includes("embeddings")) {
    return FakeUpstream.json({
      object: "list",
      model: "text-embedding-3-small",
      data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 1, total_tokens: 1 }
    })
  }
  if (request.url.endsWith("/rerank")) return FakeUpstream.json({ results: [{ index: 0, relevance_score: 0.9 }] })
  if (request.url.endsWith("/moderations")) {
    const result = { flagged: false, categories: {}, category_scores: {} }
    return FakeUpstream.json({ id: "modr-1", model: "omni-moderation-latest", results: [result] })
  }
  if (request.url.endsWith("/audio/speech")) {
    return (response) => void response.writeHead(200, { "content-type": "audio/mpeg" }).end("ID3")
  }
  if (/\/images\/(?:generations|edits|variations)$/.test(request.url))
    return FakeUpstream.json({ created: 1, data: [{ b64_json: "iVBORw0KGgo=" }] })
  if (/\/audio\/(?:transcriptions|translations)$/.test(request.url)) return FakeUpstream.json({ text: "Hello there." })
  if (/\/(?:videos|music\/generations)$/.test(request.url)) {
    return FakeUpstream.json({ id: "job-1", status: "completed", seconds: "4", data: [{ url: "https://cdn.test/a" }] })
  }
  if (request.url === "/search") {
    return FakeUpstream.json({
      results: [{ title: "A gateway", url: "https://example.com/", content: "It passes on." }]
    })
  }
  if (request.body.includes("improvedPrompt")) {
    const text = JSON.stringify({ improvedPrompt: "Tell {{name}} why it is late.", improvedSystem: "Be kind." })
    return FakeUpstream.json(FakeUpstream.chatCompletion({ text }))
  }
  const isStream = request.body.includes('"stream":true')
  return isStream
    ? FakeUpstream.sse(FakeUpstream.chatStream(["Hel", "lo"]))
    : FakeUpstream.json(FakeUpstream.chatCompletion())
}
