/** Values that several examples of the API document share. */

export const exampleId = "019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64"
export const exampleKeyId = "019aa6ee-6a10-7000-9b21-0a4d5c6e7f81"
export const exampleConnectionId = "019aa6ee-7b20-7000-8c14-2d3e4f5a6b70"
export const exampleProxyId = "019aa6ee-8c30-7000-9d25-3e4f5a6b7c81"
export const exampleRequestId = "019aa6ef-1d2e-7000-a5c4-3b2a19087f6e"
export const exampleTime = "2026-03-01T12:00:00.000Z"
export const exampleTeamId = "019aa6ee-9d40-7000-8e36-4f5a6b7c8d92"
