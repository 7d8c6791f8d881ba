/** What the operating system knows about this process, for the metrics page. Read when asked, never on the request path. */
export interface ProcessFacts {
  readonly uptimeMs: number
  readonly rssBytes: number
}

export const readProcessFacts = (): ProcessFacts => ({
  uptimeMs: Math.round(process.uptime() * 1000),
  rssBytes: process.memoryUsage.rss()
})
