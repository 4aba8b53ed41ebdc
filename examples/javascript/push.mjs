/** Sends events to Tapeline. Node 18 or newer, nothing to install; also works in Deno and Bun. */
const { TAPELINE_URL, TAPELINE_MODEL_ID, TAPELINE_API_KEY, TAPELINE_API_PASS } = process.env;

export async function push(path, body, time) {
  const headers = {
    "Content-Type": "application/json",
    model_id: TAPELINE_MODEL_ID,
    api_key: TAPELINE_API_KEY,
    api_pass: TAPELINE_API_PASS,
    // The same key again stores nothing twice, so it is safe to retry after a lost answer.
    "Idempotency-Key": crypto.randomUUID(),
  };
  if (time !== undefined) headers.time = String(time);
  const text = JSON.stringify(body);
  for (let pause = 250; ; pause *= 2) {
    const answer = await fetch(TAPELINE_URL + path, { method: "POST", headers, body: text }).catch(
      () => null,
    );
    if (answer?.ok) return answer.json();
    const again = answer === null || answer.status === 429 || answer.status >= 500;
    if (!again || pause > 8000) {
      throw new Error(answer ? (await answer.json()).error : `${TAPELINE_URL} does not answer`);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}
