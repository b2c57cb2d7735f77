// Draws the status of a gateway, once a second.
//
// Names come from peers: they are only ever set as text.
"use strict";

const SPAN_S = 300;
const COLOURS = 8;

// Each link's samples, by its group and name: [{ at, sent, received, suspected }].
const past = new Map();
let heardAt = null;

const byId = (id) => document.getElementById(id);
const keyOf = (group, link) => JSON.stringify([group, link]);

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Numbers as people read them; an absent one is a dash.

function mbps(value) {
  if (value === undefined || value === null) return "–";
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

function ms(value) {
  return value === undefined ? "–" : value.toFixed(value < 100 ? 1 : 0);
}

function bytes(value) {
  if (value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

function percent(value) {
  return value === undefined ? "–" : `${(value * 100).toFixed(2)} %`;
}

function span(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

// Groups of links: associations, and tunnels.

function groupsOf(status) {
  const associations = status.associations.map((of) => ({ ...of, group: of.id }));
  const tunnels = (status.tunnels ?? []).map((of) => ({ ...of, group: of.interface }));
  return associations.concat(tunnels);
}

function remember(key, sample) {
  if (!past.has(key)) past.set(key, []);
  const samples = past.get(key);
  if (samples.length && samples[samples.length - 1].at >= sample.at) return;
  samples.push(sample);
}

function rememberHistory(history) {
  past.clear();
  for (const link of history.links) {
    const suspected = new Set(link.suspected);
    history.uptime_s.forEach((at, i) => {
      if (link.sent_mbps[i] === null) return;
      const rates = { sent: link.sent_mbps[i], received: link.received_mbps[i] };
      remember(keyOf(link.group, link.name), { at, ...rates, suspected: suspected.has(i) });
    });
  }
}

function rememberStatus(status) {
  for (const of of groupsOf(status)) {
    for (const link of of.links) {
      const sample = { at: status.uptime_s, sent: 0, received: 0, ...link.rate_mbps };
      remember(keyOf(of.group, link.name), { ...sample, suspected: link.state === "suspected" });
    }
  }
  for (const [key, samples] of past) {
    while (samples.length && samples[0].at < status.uptime_s - SPAN_S) samples.shift();
    if (!samples.length) past.delete(key);
  }
}

function colourOf(key) {
  return [...past.keys()].indexOf(key) % COLOURS;
}

// The picture: links stacked on each other, so that its upper edge is their sum.

function draw(canvas, direction, now) {
  const styles = getComputedStyle(document.documentElement);
  const colour = (name) => styles.getPropertyValue(name).trim();
  const scale = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";

  const room = { left: 38, right: width - 4, top: 10, bottom: height - 22 };
  const seconds = [];
  for (let at = Math.floor(now) - SPAN_S; at <= Math.floor(now); at += 1) seconds.push(at);
  const layers = [...past].map(([key, samples]) => layer(key, samples, direction, seconds));
  const sums = seconds.map((_, i) => layers.reduce((sum, of) => sum + of.values[i], 0));
  const step = niceStep(Math.max(...sums, 1) / 4);
  const top = Math.max(step * Math.ceil(Math.max(...sums, 0) / step - 1e-9), step);
  const x = (at) => room.right - ((Math.floor(now) - at) / SPAN_S) * (room.right - room.left);
  const y = (value) => room.bottom - (value / top) * (room.bottom - room.top);

  drawAxes(pen, room, { step, top, x, y, now: Math.floor(now) }, colour);
  const floor = seconds.map(() => 0);
  for (const { values, suspected, key } of layers) {
    const paint = colour(`--link-${colourOf(key)}`);
    const ceiling = floor.map((below, i) => below + values[i]);
    pen.beginPath();
    seconds.forEach((at, i) => pen.lineTo(x(at), y(ceiling[i])));
    pen.strokeStyle = paint;
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    pen.stroke();
    for (let i = seconds.length - 1; i >= 0; i -= 1) pen.lineTo(x(seconds[i]), y(floor[i]));
    pen.globalAlpha = 0.45;
    pen.fillStyle = paint;
    pen.fill();
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--bad");
    suspected.forEach((yes, i) => {
      if (yes) pen.fillRect(x(seconds[i]) - 1, room.bottom + 1, 2.5, 4);
    });
    ceiling.forEach((value, i) => { floor[i] = value; });
  }
}

// A link's samples at whole seconds; samples are a second apart, but not on the second.
function layer(key, samples, direction, seconds) {
  const values = seconds.map(() => 0);
  const suspected = seconds.map(() => false);
  for (const sample of samples) {
    const i = Math.round(sample.at) - seconds[0];
    if (i < 0 || i >= seconds.length) continue;
    values[i] = sample[direction];
    suspected[i] = sample.suspected;
    // Where rounding left a second out, it is as the one before.
    const before = samples[samples.indexOf(sample) - 1];
    if (before && Math.round(before.at) === Math.round(sample.at) - 2) values[i - 1] = before[direction];
  }
  return { key, values, suspected };
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
}

function drawAxes(pen, room, { step, top, x, y, now }, colour) {
  pen.strokeStyle = colour("--line");
  pen.fillStyle = colour("--quiet");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (let value = 0; value <= top + step / 2; value += step) {
    const level = Math.round(y(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(room.left, level);
    pen.lineTo(room.right, level);
    pen.stroke();
    pen.fillText(String(Number(value.toPrecision(6))), room.left - 6, level);
  }
  pen.textBaseline = "top";
  for (let minute = 0; minute <= SPAN_S / 60; minute += 1) {
    pen.textAlign = minute === 0 ? "right" : "center";
    pen.fillText(minute === 0 ? "now" : `−${minute} min`, x(now - minute * 60), room.bottom + 8);
  }
}

// The tables.

function table(heads, rows) {
  const made = element("table");
  const head = element("tr");
  for (const { name, word, title } of heads) {
    const cell = element("th", name, word ? "word" : "");
    cell.scope = "col";
    if (title) cell.title = title;
    head.append(cell);
  }
  made.append(element("thead"), element("tbody"));
  made.tHead.append(head);
  made.tBodies[0].append(...rows);
  return made;
}

function row(heads, of, className) {
  const made = element("tr", undefined, className);
  for (const { show, word } of heads) {
    const shown = show(of);
    const cell = element("td", undefined, word ? "word" : "");
    cell.append(shown);
    if (word && typeof shown === "string") cell.title = shown;
    made.append(cell);
  }
  return made;
}

function linkHeads(of) {
  const has = (key) => of.links.some((link) => link[key] !== undefined);
  const named = (link) => {
    const cell = element("span");
    const swatch = element("span", undefined, `swatch link-${colourOf(keyOf(of.group, link.name))}`);
    cell.append(swatch, link.name);
    return cell;
  };
  const heads = [
    { name: "link", show: named },
    { name: "state", word: true, show: (link) => element("span", link.state, `state ${link.state}`) },
    { name: "heard", title: "time since the last packet from this link", show: (link) => link.last_heard_s === undefined ? "–" : `${span(link.last_heard_s)} ago` },
    { name: "received Mbit/s", show: (link) => mbps(link.rate_mbps?.received) },
    { name: "sent Mbit/s", show: (link) => mbps(link.rate_mbps?.sent) },
    { name: "sent at most", title: "highest recent delivery rate, Mbit/s: the link carries no more, or no more was sent", show: (link) => mbps(link.delivery_rate_mbps) },
    { name: "rtt ms", show: (link) => ms(link.rtt_ms) },
    { name: "min rtt ms", show: (link) => ms(link.min_rtt_ms) },
    { name: "in flight", show: (link) => bytes(link.in_flight_bytes) },
    { name: "received", show: (link) => bytes(link.received_bytes) },
    { name: "sent", show: (link) => bytes(link.sent_bytes) },
  ];
  const optional = [
    { key: "resent_bytes", name: "retrans", show: (link) => bytes(link.resent_bytes) },
    { key: "loss_ratio", name: "lost", show: (link) => percent(link.loss_ratio) },
    { key: "reordered_ratio", name: "reordered", show: (link) => percent(link.reordered_ratio) },
    { key: "path_mtu_bytes", name: "path MTU", title: "longest packet that it carries", show: (link) => String(link.path_mtu_bytes) },
    { key: "congestion", name: "congestion control", show: (link) => link.congestion },
    { key: "quota_left_bytes", name: "quota left", show: (link) => bytes(link.quota_left_bytes) },
    { key: "throttled_mbps", name: "throttled to", title: "Mbit/s each way, since its quota is used up", show: (link) => mbps(link.throttled_mbps) },
    { key: "used_bytes", name: "used", show: (link) => bytes(link.used_bytes) },
    { key: "used_today_bytes", name: "used today", show: (link) => bytes(link.used_today_bytes) },
    { key: "quota_lasts_s", name: "quota lasts", title: "at the mean rate since it was whole", show: (link) => span(link.quota_lasts_s) },
    { key: "spent", name: "spent", title: "in its period", show: (link) => link.spent.toFixed(2) },
    { key: "spent_today", name: "spent today", show: (link) => link.spent_today.toFixed(2) },
  ];
  heads.push(...optional.filter(({ key }) => has(key)));
  heads.push({ name: "suspected", title: "how many times", show: (link) => String(link.suspicions) });
  return heads;
}

const STREAM_HEADS = [
  { name: "stream", show: (stream) => String(stream.id) },
  { name: "target", word: true, show: (stream) => stream.target ?? "–" },
  { name: "class", word: true, show: (stream) => stream.class ?? "–" },
  { name: "age", show: (stream) => span(stream.age_s) },
  { name: "received", show: (stream) => bytes(stream.received_bytes) },
  { name: "sent", show: (stream) => bytes(stream.sent_bytes) },
  { name: "unsent", show: (stream) => bytes(stream.unsent_bytes) },
  { name: "waits for a gap", show: (stream) => bytes(stream.reassembly_bytes) },
  { name: "window", show: (stream) => bytes(stream.window_bytes) },
];

function card(of) {
  const made = element("article");
  const title = element("h2", of.interface ? `${of.interface} to ${of.peer}` : of.peer);
  const notes = [of.scheduler, of.age_s === undefined ? undefined : `since ${span(of.age_s)}`];
  if (of.reassembly_bound_bytes !== undefined) {
    notes.push(`${bytes(of.reassembly_bytes)} of at most ${bytes(of.reassembly_bound_bytes)} wait for gaps`);
  }
  if (of.mtu_bytes !== undefined) notes.push(`MTU ${of.mtu_bytes}`);
  if (of.hold_ms !== undefined) notes.push(`packets held up to ${ms(of.hold_ms)} ms`);
  if (of.repaired_packets) notes.push(`${of.repaired_packets} lost packets retransmitted`);
  title.append(element("small", notes.filter((note) => note !== undefined).join(" · ")));
  made.append(title);
  const heads = linkHeads(of);
  made.append(table(heads, of.links.map((link) => row(heads, link, link.state))));
  for (const link of of.links) {
    if (link.reason) made.append(element("p", `${link.name}: ${link.reason}`, "none"));
  }
  if (of.streams) {
    const shown = of.streams.length;
    const which = shown < of.stream_count ? `, the busiest ${shown} of ${of.stream_count}` : "";
    made.append(element("h3", `Streams${which}`));
    if (shown) made.append(table(STREAM_HEADS, of.streams.map((stream) => row(STREAM_HEADS, stream))));
    else made.append(element("p", "None is open.", "none"));
  }
  return made;
}

function figure(value, unit, what) {
  const made = element("div");
  const number = element("strong", value);
  if (unit) number.append(" ", element("small", unit));
  made.append(number, element("small", what));
  return made;
}

function show(status) {
  const groups = groupsOf(status);
  const links = groups.flatMap((of) => of.links);
  const sum = (direction) => links.reduce((total, link) => total + (link.rate_mbps?.[direction] ?? 0), 0);
  const up = links.filter((link) => link.state === "up").length;
  const streams = groups.reduce((total, of) => total + (of.stream_count ?? 0), 0);
  document.title = `Ropewalk ${status.role}`;
  byId("role").textContent = status.role;
  byId("about").textContent = `${status.version}, up ${span(status.uptime_s)}`;
  const figures = [
    figure(mbps(sum("received")), "Mbit/s", "received"),
    figure(mbps(sum("sent")), "Mbit/s", "sent"),
    figure(`${up} of ${links.length}`, "", "links up"),
  ];
  const fastest = status.total?.fastest_receiving;
  if (fastest) figures.push(figure(mbps(fastest.rate_mbps), "Mbit/s", `received by the fastest link, ${fastest.name}`));
  if (status.role !== "tunnel") figures.push(figure(String(streams), "", "streams"));
  if (status.role === "relay") figures.push(figure(String(status.association_count), "", "clients"));
  byId("figures").replaceChildren(...figures);
  byId("groups").replaceChildren(...groups.map(card));
  draw(byId("received"), "received", status.uptime_s);
  draw(byId("sent"), "sent", status.uptime_s);
}

// The loop.

async function fetchJson(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

let newest = null;

async function refresh() {
  const contact = byId("contact");
  try {
    const status = await fetchJson("status.json");
    // First, or after the gateway or this page was away for a while: take its memory.
    if (newest === null || status.uptime_s < newest.uptime_s || status.uptime_s > newest.uptime_s + 3) {
      rememberHistory(await fetchJson("history.json"));
    }
    newest = status;
    heardAt = Date.now();
    rememberStatus(status);
    show(status);
    contact.textContent = "live";
    contact.className = "live";
  } catch {
    const since = heardAt === null ? "" : ` for ${span((Date.now() - heardAt) / 1000)}`;
    contact.textContent = `no answer${since}`;
    contact.className = "lost";
  }
  setTimeout(refresh, 1000);
}

const redraw = () => { if (newest) show(newest); };
window.addEventListener("resize", redraw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
refresh();
