//! What a client publishes, and which of it is under way.

use crate::conversation::Broken;
use crate::message::Message;
use crate::stamp::Stamp;
use std::collections::VecDeque;
use tiebreak_proto::mqtt::{
    Acknowledgement, Delivery, Kind, Packet, PacketId, Properties, Publish, Qos, TopicName, Version,
};

/// How many packet identifiers there are: 1 to 65 535.
const PACKET_IDS: u16 = u16::MAX;

/// Appends a packet that `version` can have.
pub(super) fn append(packet: &Packet<'_>, version: Version, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packet.encoded_len(version), 0);
    packet.encode(version, &mut out[start..]).expect("the packet is made here, and is right");
}

/// Publishes messages to one topic.
///
/// Representation: the packet before its payload, encoded once, in which only the packet identifier
/// changes; and the messages that are not yet acknowledged. Nothing is allocated for a message once
/// as many have been under way.
#[derive(Debug)]
pub(super) struct Publisher {
    version: Version,
    qos: Qos,
    message: Message,
    head: Vec<u8>,
    /// Where the packet identifier lies in the head; nowhere with QoS 0.
    packet_id_at: Option<usize>,
    window: Window,
}

impl Publisher {
    pub(super) fn new(version: Version, topic: &str, qos: Qos, message: Message) -> Publisher {
        let packet_id = PacketId::MIN;
        let publish = Publish {
            delivery: match qos {
                Qos::AtMostOnce => Delivery::AtMostOnce,
                Qos::AtLeastOnce => Delivery::AtLeastOnce { packet_id, dup: false },
                Qos::ExactlyOnce => Delivery::ExactlyOnce { packet_id, dup: false },
            },
            retain: false,
            topic: Some(TopicName::new(topic).expect("the topic is made here, and is right")),
            properties: Properties::EMPTY,
            payload: &vec![0; message.length()],
        };
        let offsets = publish.offsets(version);
        let mut head = Vec::new();
        append(&Packet::from(publish), version, &mut head);
        head.truncate(offsets.payload);
        head.shrink_to_fit();
        let window = Window::new(PACKET_IDS);
        Publisher { version, qos, message, head, packet_id_at: offsets.packet_id, window }
    }

    /// Returns the QoS of the messages.
    pub(super) fn qos(&self) -> Qos {
        self.qos
    }

    /// Returns the bytes of a packet.
    pub(super) fn packet_bytes(&self) -> usize {
        self.head.len() + self.message.length()
    }

    /// Takes how many messages the server permits under way (5.0 section 3.2.2.3.3).
    pub(super) fn limit(&mut self, receive_maximum: u16) {
        self.window.limit = receive_maximum;
    }

    /// Returns whether a message can be published now.
    pub(super) fn is_free(&self) -> bool {
        self.packet_id_at.is_none() || self.window.is_free()
    }

    /// Returns how many messages of QoS 1 or 2 wait for their last acknowledgement.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.window.under_way.into()
    }

    /// Appends a message, while it is free.
    pub(super) fn publish(&mut self, stamp: Stamp, out: &mut Vec<u8>) {
        if let Some(at) = self.packet_id_at {
            let packet_id = self.window.begin(stamp);
            self.head[at..at + 2].copy_from_slice(&packet_id.to_be_bytes());
        }
        out.extend_from_slice(&self.head);
        self.message.append(stamp, out);
    }

    /// Takes a PUBACK, PUBREC or PUBCOMP and appends what follows it. Returns the message that the
    /// server refuses by it, if it refuses one.
    ///
    /// # Errors
    /// Fails if no message is under way that waits for such an acknowledgement.
    pub(super) fn acknowledged(
        &mut self,
        kind: Kind,
        acknowledgement: &Acknowledgement<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Stamp>, Broken> {
        let packet_id = acknowledgement.packet_id;
        let place = self.window.place(packet_id.get());
        let step = place.map_or(Step::Done, |place| self.window.messages[place].step);
        let is_refused = acknowledgement.reason.is_error();
        match (place, self.qos, kind, step) {
            (Some(place), Qos::AtLeastOnce, Kind::Puback, Step::Published) => {
                Ok(Some(self.window.end(place)).filter(|_| is_refused))
            }
            // Section 4.3.3: a PUBREC with an error ends the delivery.
            (Some(place), Qos::ExactlyOnce, Kind::Pubrec, Step::Published) if is_refused => {
                Ok(Some(self.window.end(place)))
            }
            (Some(place), Qos::ExactlyOnce, Kind::Pubrec, Step::Published | Step::Released) => {
                self.window.messages[place].step = Step::Released;
                append(&Packet::Pubrel(Acknowledgement::new(packet_id)), self.version, out);
                Ok(None)
            }
            // The message was accepted by the PUBREC, so its reason matters no more.
            (Some(place), Qos::ExactlyOnce, Kind::Pubcomp, Step::Released) => {
                self.window.end(place);
                Ok(None)
            }
            _ => Err(Broken(format!(
                "sent a {kind} for packet {packet_id}, which does not wait for one"
            ))),
        }
    }
}

/// The messages under way, in the order of their packet identifiers, which go around.
///
/// A message that ends before an older one stays in its place until that one ends. So identifiers
/// of neighbours are neighbours, and all operations take constant time.
#[derive(Debug)]
struct Window {
    messages: VecDeque<UnderWay>,
    /// The packet identifier of the first message.
    first_id: u16,
    /// The messages that have not ended, and how many there may be.
    under_way: u16,
    limit: u16,
}

#[derive(Debug)]
struct UnderWay {
    stamp: Stamp,
    step: Step,
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The PUBLISH was sent.
    Published,
    /// With QoS 2: the PUBREL was sent.
    Released,
    /// It has ended.
    Done,
}

impl Window {
    fn new(limit: u16) -> Window {
        Window { messages: VecDeque::new(), first_id: 1, under_way: 0, limit }
    }

    fn is_free(&self) -> bool {
        self.under_way < self.limit && self.messages.len() < usize::from(PACKET_IDS)
    }

    /// Adds a message, while it is free, and returns its packet identifier.
    fn begin(&mut self, stamp: Stamp) -> u16 {
        debug_assert!(self.is_free());
        // There are fewer messages than identifiers.
        let packet_id = after(self.first_id, self.messages.len() as u16);
        self.messages.push_back(UnderWay { stamp, step: Step::Published });
        self.under_way += 1;
        packet_id
    }

    /// Returns where the message with this packet identifier lies, if one has it.
    fn place(&self, packet_id: u16) -> Option<usize> {
        let ids = u32::from(PACKET_IDS);
        let place = (u32::from(packet_id) + ids - u32::from(self.first_id)) % ids;
        Some(place as usize).filter(|place| *place < self.messages.len())
    }

    /// Ends the delivery of a message.
    fn end(&mut self, place: usize) -> Stamp {
        let UnderWay { stamp, step } = &mut self.messages[place];
        *step = Step::Done;
        let stamp = *stamp;
        self.under_way -= 1;
        while let Some(UnderWay { step: Step::Done, .. }) = self.messages.front() {
            self.messages.pop_front();
            self.first_id = after(self.first_id, 1);
        }
        stamp
    }
}

/// Returns the packet identifier that comes so many after this one.
fn after(packet_id: u16, count: u16) -> u16 {
    let ids = u32::from(PACKET_IDS);
    ((u32::from(packet_id) - 1 + u32::from(count)) % ids) as u16 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn stamp(number: u64) -> Stamp {
        Stamp { number, intended_ns: 0, actual_ns: 0 }
    }

    #[test]
    fn identifiers_go_around_and_none_is_used_twice_at_a_time() {
        let mut window = Window::new(PACKET_IDS);
        let mut under_way = HashSet::new();
        for number in 0..200_000_u64 {
            let packet_id = window.begin(stamp(number));
            assert_eq!(u64::from(packet_id), number % 65_535 + 1);
            assert!(under_way.insert(packet_id));
            // The one before ends after this one has begun, and every third only much later.
            let ends = [number.checked_sub(1), number.checked_sub(999)];
            for (late, ended) in [false, true].into_iter().zip(ends) {
                if let Some(ended) = ended.filter(|ended| (ended % 3 == 0) == late) {
                    let packet_id = (ended % 65_535 + 1) as u16;
                    let place = window.place(packet_id).unwrap();
                    assert_eq!(window.end(place), stamp(ended));
                    assert!(under_way.remove(&packet_id));
                }
            }
            assert_eq!(usize::from(window.under_way), under_way.len());
            assert!(window.messages.len() <= 1000);
        }
    }

    #[test]
    fn a_window_is_full_at_its_limit_and_at_the_last_identifier() {
        let mut window = Window::new(2);
        let first = window.begin(stamp(0));
        let second = window.begin(stamp(1));
        assert!(!window.is_free());
        window.end(window.place(second).unwrap());
        assert!(window.is_free());

        window.limit = PACKET_IDS;
        // The first message is never acknowledged, so its place keeps all others behind it.
        while window.is_free() {
            let packet_id = window.begin(stamp(2));
            window.end(window.place(packet_id).unwrap());
        }
        assert_eq!((window.under_way, window.messages.len()), (1, 65_535));
        window.end(window.place(first).unwrap());
        assert!(window.is_free() && window.messages.is_empty());
        assert_eq!(window.begin(stamp(3)), first);
    }
}
