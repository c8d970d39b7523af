package flinkstub

import "encoding/binary"

// The operator reads why a job failed out of a Java object, an
// org.apache.flink.util.SerializedThrowable of Flink 1.17 in the format of Java's
// object serialization (java.io.ObjectStreamConstants): the classes are always the
// same bytes, between them stand the exception's text, its stack trace, its class,
// and the original exception, which is left out, as one that cannot be serialized is.
const (
	throwableClasses = "\xac\xed\x00\x05sr\x00)org.apache.flink.util.Serialized" +
		"Throwablee\x16\x9d\xf5\x1f\xa7\x13\xf3\x02\x00\x03L\x00\x19fullStringifiedSt" +
		"ackTracet\x00\x12Ljava/lang/String;L\x00\x16original" +
		"ErrorClassNameq\x00~\x00\x01[\x00\x13serializedExceptio" +
		"nt\x00\x02[Bxr\x00\x13java.lang.Exception\xd0\xfd\x1f>\x1a;\x1c\xc4\x02\x00\x00" +
		"xr\x00\x13java.lang.Throwable\xd5\xc65'9w\xb8\xcb\x03\x00\x04L\x00\x05cau" +
		"set\x00\x15Ljava/lang/Throwable;L\x00\x0ddetailMessa" +
		"geq\x00~\x00\x01[\x00\x0astackTracet\x00\x1e[Ljava/lang/Stack" +
		"TraceElement;L\x00\x14suppressedExceptionst\x00\x10L" +
		"java/util/List;xpp"
	throwableFrames = "ur\x00\x1e[Ljava.lang.StackTraceElement;\x02F*<<\xfd" +
		"\x229\x02\x00\x00xp\x00\x00\x00\x00sr\x00\x1fjava.util.Collections$Emp" +
		"tyListz\xb8\x17\xb4<\xa7\x9e\xde\x02\x00\x00xpx"
	throwableBytes = "ur\x00\x02[B\xac\xf3\x17\xf8\x06\x08T\xe0\x02\x00\x00xp"
)

// serializedThrowable becomes base64 on its way into JSON.
func serializedThrowable(f failure) []byte {
	out := []byte(throwableClasses)
	out = javaString(out, f.String())
	out = append(out, throwableFrames...)
	out = javaString(out, f.String()+"\n")
	out = javaString(out, f.class)
	out = append(out, throwableBytes...)
	return binary.BigEndian.AppendUint32(out, 0)
}

// javaString appends a string: TC_STRING, its length, its bytes. Longer ones than
// fit are cut.
func javaString(out []byte, text string) []byte {
	const tcString = 0x74
	text = text[:min(len(text), 65535)]
	out = binary.BigEndian.AppendUint16(append(out, tcString), uint16(len(text)))
	return append(out, text...)
}
