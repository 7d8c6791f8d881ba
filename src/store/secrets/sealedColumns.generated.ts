/** Every encrypted column, for the reset. Written by `bin/subjects.mjs`: do not edit. */

export const sealedColumns = [
  { table: "answer_cache", columns: ["content", "meaning"] },
  { table: "raw_outputs", columns: ["content"] },
  { table: "connections", columns: ["api_key", "oauth", "headers", "transport"] },
  { table: "inspector_records", columns: ["content"] },
  { table: "issue_tracker", columns: ["token"] },
  { table: "issuers", columns: ["client_secret"] },
  { table: "mcp_servers", columns: ["headers", "program"] },
  { table: "memory_blocks", columns: ["content"] },
  { table: "memory_vectors", columns: ["content"] },
  { table: "memories", columns: ["content"] },
  { table: "provider_nodes", columns: ["headers"] },
  { table: "plugins", columns: ["secrets"] },
  { table: "proxies", columns: ["password"] },
  { table: "cloud_sync", columns: ["shared_key"] },
  { table: "tunnels", columns: ["secret"] },
  { table: "webhooks", columns: ["secret", "mail"] }
]
